with observed_sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
),
held_attempts as (
    -- the bounds of a price also apply to a reserve
    select
        sales.*,
        plausible_price(seller_reserve_price) as reserve,
        row_number() over (partition by lots.lot_id order by attempt desc nulls last) as recency
    from sales
    inner join lots on lots.lot_id = sales.lot_id
    where outcome in ('sold', 'not_sold', 'on_approval') and plausible_price(seller_reserve_price) is not null
),
gaps as (
    select *, amount - reserve as gap, (amount - reserve) / reserve as gap_share
    from held_attempts
    where recency = 1 and is_observed and not is_outlier and plausible_price(amount) is not null
),
outcomes as (
    select
        domain_id,
        outcome,
        currency,
        count(*) as lots,
        count(*) filter (where gap >= 0) as met_lots,
        median(reserve) as reserve_median,
        median(amount) as amount_median,
        median(gap) as gap_median,
        median(gap_share) as gap_share_median,
        percentile_cont(0.25) within group (order by gap_share) as gap_share_p25,
        percentile_cont(0.75) within group (order by gap_share) as gap_share_p75
    from gaps
    group by domain_id, outcome, currency
),
sized_outcomes as (
    -- amounts without a known currency count as lots, but enter no statistic
    select *, currency is not null and enough(lots) as is_large_enough from outcomes
)
select
    domain_id,
    domain_name,
    observed_since,
    outcome,
    lots,
    met_lots,
    case when is_large_enough then met_lots / lots end as met_share,
    currency,
    case when is_large_enough then money(reserve_median) end as reserve_median,
    case when is_large_enough then money(amount_median) end as amount_median,
    case when is_large_enough then money(gap_median) end as gap_median,
    case when is_large_enough then gap_share_median end as gap_share_median,
    case when is_large_enough then gap_share_p25 end as gap_share_p25,
    case when is_large_enough then gap_share_p75 end as gap_share_p75
from sized_outcomes
left join observed_sources using (domain_id)
left join dim_sources using (domain_id)
