with parties as (
    -- a lot that names no seller is no lot of an unnamed seller
    select lot_id, 'seller' as level, lower(trim(seller_name)) as party, trim(seller_name) as party_name
    from lots
    where trim(seller_name) <> ''
    union all
    select
        lot_id,
        'branch',
        coalesce(cast(selling_branch_id as string), lower(trim(selling_branch_name))),
        nullif(trim(selling_branch_name), '')
    from lots
    where selling_branch_id is not null or trim(selling_branch_name) <> ''
),
held_lots as (
    select
        lot_id,
        count(*) filter (where is_observed) as offered,
        count(*) filter (where is_observed and outcome = 'sold') as sold,
        count(*) filter (where is_observed and outcome = 'on_approval') as on_approval,
        count(*) filter (where is_observed and vehicle_attempt > 1) as relisted,
        max(sale_date) filter (where outcome = 'sold') as sold_at,
        max_by(is_observed, attempt) as is_last_observed,
        -- 0 for an unknown or doubted amount, since max_by passes over a null in one engine alone
        max_by(case when is_outlier then 0 else coalesce(amount, 0) end, attempt) as last_amount
    from sales
    where outcome in ('sold', 'not_sold', 'on_approval')
    group by lot_id
),
estimated as (
    -- the logarithm of price / estimate; its weight is 1 / variance
    select
        lot_id,
        ln(price / estimate) as log_ratio,
        ln(place_factor) as log_place,
        ln(seller_factor) as log_seller,
        1 / (log_deviation * log_deviation) as weight
    from price_estimates
    where price is not null and estimate > 0 and log_deviation > 0 and not is_left_out
),
lot_facts as (
    -- a lot that no auction was held for counts for its seller and branch, too
    select
        lots.lot_id,
        lots.domain_id,
        coalesce(offered, 0) as offered,
        coalesce(sold, 0) as sold,
        coalesce(on_approval, 0) as on_approval,
        coalesce(relisted, 0) as relisted,
        -- the bounds of a price also apply to a reserve
        case when is_last_observed then plausible_price(seller_reserve_price) end as reserve,
        (plausible_price(last_amount) - reserve) / reserve as gap_share,
        days_between(plausible_date(created_at, last_day), sold_at) as days,
        log_ratio,
        log_place,
        log_seller,
        weight
    from lots
    cross join dim_settings
    left join held_lots on held_lots.lot_id = lots.lot_id
    left join estimated on estimated.lot_id = held_lots.lot_id
    where is_auction(lots.domain_id)
)
select
    level,
    domain_id,
    party,
    max(party_name) as party_name,
    cast(sum(offered) as bigint) as offered,
    cast(sum(sold) as bigint) as sold,
    cast(sum(on_approval) as bigint) as on_approval,
    cast(sum(relisted) as bigint) as relisted,
    count(reserve) as reserved_lots,
    count(gap_share) as compared_reserves,
    count(*) filter (where gap_share >= 0) as met_reserves,
    median(gap_share) as gap_share_median,
    count(weight) as estimated_prices,
    sum(weight) as price_weight,
    -- the estimate knows what the place and the seller do to prices, so that its part is added again
    sum(weight * (log_ratio + case level when 'branch' then log_place else log_seller end)) / sum(weight) as log_ratio,
    -- a lot that the feed learned of after its auction has no days
    count(days) filter (where days >= 0) as timed_lots,
    median(days) filter (where days >= 0) as days_median
from parties
inner join lot_facts using (lot_id)
group by level, domain_id, party
