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
        max(domain_id) as domain_id,
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
    select
        held_lots.*,
        -- the bounds of a price also apply to a reserve
        case when is_last_observed then plausible_price(seller_reserve_price) end as reserve,
        (plausible_price(last_amount) - reserve) / reserve as gap_share,
        -- a lot that the feed learned of after its auction has no days
        case when days_between(created_at, sold_at) >= 0 then days_between(created_at, sold_at) end as days,
        log_ratio,
        log_place,
        log_seller,
        weight
    from held_lots
    inner join lots on lots.lot_id = held_lots.lot_id
    left join estimated on estimated.lot_id = held_lots.lot_id
),
counts as (
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
        count(days) as timed_lots,
        median(days) as days_median
    from parties
    inner join lot_facts using (lot_id)
    group by level, domain_id, party
),
trials as (
    select level, domain_id, party, 'sell_through' as rate, offered as n, sold as k from counts where offered > 0
    union all
    select level, domain_id, party, 'approval', offered, on_approval from counts where offered > 0
    union all
    select level, domain_id, party, 'relisting', offered, relisted from counts where offered > 0
    union all
    select level, domain_id, party, 'reserve_met', compared_reserves, met_reserves
    from counts
    where compared_reserves > 0
),
sums as (
    select
        level,
        domain_id,
        rate,
        count(*) as parties,
        cast(sum(n) as bigint) as all_n,
        sum(k) / sum(n) as mean,
        sum(cast(n as double) * n) as n_squared,
        sum(cast(k as double) * k / n) as k_squared_by_n
    from trials
    group by level, domain_id, rate
),
spreads as (
    -- Moments of the beta-binomial distribution: the correlation of two attempts of one party. Rates that are all 0 or 1,
    -- and a single party, have none.
    select
        *,
        (
            (k_squared_by_n - all_n * mean * mean) / nullif(mean * (1 - mean), 0) - (parties - 1)
        ) / nullif(all_n - n_squared / all_n - (parties - 1), 0) as correlation
    from sums
),
priors as (
    -- the mean weighs as much as 1 to 999 attempts
    select *, 1 / least(greatest(coalesce(correlation, 0), 0.001), 0.5) - 1 as weight
    from spreads
),
shrunk as (
    select
        level,
        domain_id,
        party,
        rate,
        case when enough(n) then k / n end as raw,
        (k + weight * mean) / (n + weight) as shrunk,
        -- the mean itself rests on no more attempts than the source platform has
        least(n + weight, all_n) as n
    from trials
    inner join priors using (level, domain_id, rate)
    where enough(all_n)
),
wilson as (
    -- the interval of Wilson for the shrunk rate of so many attempts; 1.96 squared is 3.8415
    select
        *,
        (shrunk + 1.9207294103 / n) / (1 + 3.8414588207 / n) as middle,
        sqrt(3.8414588207 * (shrunk * (1 - shrunk) / n + 0.9603647052 / (n * n))) / (1 + 3.8414588207 / n) as half
    from shrunk
),
intervals as (
    select
        *,
        greatest(least(middle - half, shrunk), 0) as low,
        least(greatest(middle + half, shrunk), 1) as high
    from wilson
),
rates as (
    select
        level,
        domain_id,
        party,
        max(raw) filter (where rate = 'sell_through') as sell_through,
        max(shrunk) filter (where rate = 'sell_through') as sell_through_shrunk,
        max(low) filter (where rate = 'sell_through') as sell_through_low,
        max(high) filter (where rate = 'sell_through') as sell_through_high,
        max(raw) filter (where rate = 'approval') as approval_rate,
        max(shrunk) filter (where rate = 'approval') as approval_rate_shrunk,
        max(low) filter (where rate = 'approval') as approval_rate_low,
        max(high) filter (where rate = 'approval') as approval_rate_high,
        max(raw) filter (where rate = 'relisting') as relisting_rate,
        max(shrunk) filter (where rate = 'relisting') as relisting_rate_shrunk,
        max(low) filter (where rate = 'relisting') as relisting_rate_low,
        max(high) filter (where rate = 'relisting') as relisting_rate_high,
        max(raw) filter (where rate = 'reserve_met') as reserve_met_rate,
        max(shrunk) filter (where rate = 'reserve_met') as reserve_met_rate_shrunk,
        max(low) filter (where rate = 'reserve_met') as reserve_met_rate_low,
        max(high) filter (where rate = 'reserve_met') as reserve_met_rate_high
    from intervals
    group by level, domain_id, party
),
price_sums as (
    select
        level,
        domain_id,
        count(log_ratio) as parties,
        sum(price_weight) as weight,
        sum(price_weight * log_ratio) / sum(price_weight) as mean,
        sum(price_weight * log_ratio * log_ratio) as squares,
        sum(price_weight * price_weight) as squared_weight
    from counts
    group by level, domain_id
),
price_spreads as (
    -- the analysis of variance says how far parties lie apart beyond the noise of their means
    select
        *,
        coalesce(
            greatest((squares - weight * mean * mean - (parties - 1)) / nullif(weight - squared_weight / weight, 0), 0), 0
        ) as spread
    from price_sums
),
price_ratios as (
    select
        level,
        domain_id,
        party,
        spread * price_weight + 1 as scale,
        mean + (scale - 1) / scale * (log_ratio - mean) as log_shrunk,
        1.959963984540054 * sqrt(spread / scale + 1 / (scale * scale) / weight) as half
    from counts
    inner join price_spreads using (level, domain_id)
),
observed_sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
)
select
    level,
    domain_id,
    domain_name,
    party,
    party_name,
    observed_since,
    not enough(offered) as is_pooled,
    offered,
    sold,
    sell_through,
    sell_through_shrunk,
    sell_through_low,
    sell_through_high,
    on_approval,
    approval_rate,
    approval_rate_shrunk,
    approval_rate_low,
    approval_rate_high,
    relisted,
    relisting_rate,
    relisting_rate_shrunk,
    relisting_rate_low,
    relisting_rate_high,
    reserved_lots,
    compared_reserves,
    met_reserves,
    reserve_met_rate,
    reserve_met_rate_shrunk,
    reserve_met_rate_low,
    reserve_met_rate_high,
    case when enough(compared_reserves) then gap_share_median end as reserve_gap_share_median,
    estimated_prices,
    case when enough(estimated_prices) then exp(log_ratio) end as price_to_estimate,
    exp(log_shrunk) as price_to_estimate_shrunk,
    exp(log_shrunk - half) as price_to_estimate_low,
    exp(log_shrunk + half) as price_to_estimate_high,
    timed_lots,
    case when enough(timed_lots) then days_median end as days_median
from counts
left join rates using (level, domain_id, party)
left join price_ratios using (level, domain_id, party)
left join observed_sources using (domain_id)
left join dim_sources using (domain_id)
