with observed_sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
),
reserved as (
    -- the bounds of a price also apply to a reserve
    select lot_id, seller_reserve_price as reserve
    from lots
    where seller_reserve_price between 1 and 5000000
),
held_attempts as (
    select
        sales.domain_id,
        sales.outcome,
        sales.currency,
        sales.amount,
        sales.is_observed,
        reserved.reserve,
        row_number() over (partition by sales.lot_id order by sales.attempt desc nulls last) as recency
    from sales
    inner join reserved on reserved.lot_id = sales.lot_id
    where sales.outcome in ('sold', 'not_sold', 'on_approval')
),
gaps as (
    select
        domain_id,
        outcome,
        currency,
        amount,
        reserve,
        amount - reserve as gap,
        (amount - reserve) / reserve as gap_share
    from held_attempts
    where recency = 1 and is_observed and amount between 1 and 5000000
),
outcomes as (
    select
        domain_id,
        outcome,
        currency,
        count(*) as lots,
        count(case when gap >= 0 then 1 end) as met_lots,
        percentile_cont(0.5) within group (order by reserve) as reserve_median,
        percentile_cont(0.5) within group (order by amount) as amount_median,
        percentile_cont(0.5) within group (order by gap) as gap_median,
        percentile_cont(0.5) within group (order by gap_share) as gap_share_median,
        percentile_cont(0.25) within group (order by gap_share) as gap_share_p25,
        percentile_cont(0.75) within group (order by gap_share) as gap_share_p75
    from gaps
    group by domain_id, outcome, currency
),
sized_outcomes as (
    select
        outcomes.*,
        -- amounts without a known currency count as lots, but enter no statistic
        outcomes.currency is not null and outcomes.lots >= settings.minimum_group as is_large_enough
    from outcomes
    cross join dim_settings as settings
),
final as (
    select
        sized_outcomes.domain_id,
        source_names.domain_name,
        observed_sources.observed_since,
        sized_outcomes.outcome,
        sized_outcomes.lots,
        sized_outcomes.met_lots,
        case when sized_outcomes.is_large_enough then cast(sized_outcomes.met_lots as double) / sized_outcomes.lots end
            as met_share,
        sized_outcomes.currency,
        case when sized_outcomes.is_large_enough then round(sized_outcomes.reserve_median * 100) / 100 end as reserve_median,
        case when sized_outcomes.is_large_enough then round(sized_outcomes.amount_median * 100) / 100 end as amount_median,
        case when sized_outcomes.is_large_enough then round(sized_outcomes.gap_median * 100) / 100 end as gap_median,
        case when sized_outcomes.is_large_enough then sized_outcomes.gap_share_median end as gap_share_median,
        case when sized_outcomes.is_large_enough then sized_outcomes.gap_share_p25 end as gap_share_p25,
        case when sized_outcomes.is_large_enough then sized_outcomes.gap_share_p75 end as gap_share_p75
    from sized_outcomes
    left join observed_sources on observed_sources.domain_id = sized_outcomes.domain_id
    left join dim_sources as source_names on source_names.domain_id = sized_outcomes.domain_id
)
select * from final
