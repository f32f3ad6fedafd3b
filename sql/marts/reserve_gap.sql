with watched as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
),
reserved as (
    -- the bounds of a price hold for a reserve as well
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
        row_number() over (partition by sales.lot_id order by sales.attempt desc) as recency
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
judged as (
    select
        outcomes.*,
        -- amounts whose currency is not known count, and are in no statistic
        outcomes.currency is not null and outcomes.lots >= settings.minimum_group as is_large_enough
    from outcomes
    cross join dim_settings as settings
),
final as (
    select
        judged.domain_id,
        source_names.domain_name,
        watched.observed_since,
        judged.outcome,
        judged.lots,
        judged.met_lots,
        case when judged.is_large_enough then cast(judged.met_lots as double) / judged.lots end as met_share,
        judged.currency,
        case when judged.is_large_enough then round(judged.reserve_median, 2) end as reserve_median,
        case when judged.is_large_enough then round(judged.amount_median, 2) end as amount_median,
        case when judged.is_large_enough then round(judged.gap_median, 2) end as gap_median,
        case when judged.is_large_enough then judged.gap_share_median end as gap_share_median,
        case when judged.is_large_enough then judged.gap_share_p25 end as gap_share_p25,
        case when judged.is_large_enough then judged.gap_share_p75 end as gap_share_p75
    from judged
    left join watched on watched.domain_id = judged.domain_id
    left join dim_sources as source_names on source_names.domain_id = judged.domain_id
)
select * from final
