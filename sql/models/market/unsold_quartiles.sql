with sale_ages as (
    select
        level,
        domain_id,
        kind,
        age,
        sum(sold_lots) over (partition by level, domain_id, kind) as all_sold,
        min(watched) over upto as fewest_lots,
        -- where all lots of an age are sold, nothing is left to go on with
        max(case when sold_lots = watched then 1 else 0 end) over upto as is_over,
        sum(case when sold_lots < watched then ln(1 - sold_lots / watched) else 0 end) over upto as log_unsold,
        sum(case when sold_lots < watched then sold_lots / (watched * (watched - sold_lots)) else 0 end) over upto
            as variance
    from sold_curves
    where sold_lots > 0
    window upto as (partition by level, domain_id, kind order by age nulls last)
),
unsold as (
    -- Kaplan and Meier's share of lots that are unsold after an age if none left, with Greenwood's variance on the
    -- log-log scale; a billionth more, since a share of exactly a half may come out a little above it
    select
        *,
        case when is_over = 1 then 0 else exp(log_unsold) - 0.000000001 end as share,
        case
            when is_over = 1 then 0
            else exp(log_unsold * exp(1.959963984540054 * sqrt(variance) / abs(log_unsold))) - 0.000000001
        end as share_low,
        case
            when is_over = 1 then 1
            else exp(log_unsold * exp(-1.959963984540054 * sqrt(variance) / abs(log_unsold))) - 0.000000001
        end as share_high
    from sale_ages
    where enough(cast(fewest_lots as bigint)) and enough(cast(all_sold as bigint))
)
select
    level,
    domain_id,
    kind,
    min(age) filter (where share <= 0.75) as days_p25,
    min(age) filter (where share_low <= 0.75) as days_p25_low,
    min(age) filter (where share_high <= 0.75) as days_p25_high,
    min(age) filter (where share <= 0.5) as days_median,
    min(age) filter (where share_low <= 0.5) as days_median_low,
    min(age) filter (where share_high <= 0.5) as days_median_high,
    min(age) filter (where share <= 0.25) as days_p75,
    min(age) filter (where share_low <= 0.25) as days_p75_low,
    min(age) filter (where share_high <= 0.25) as days_p75_high
from unsold
group by all
