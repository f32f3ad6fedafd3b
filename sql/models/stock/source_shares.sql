with source_weeks as (
    -- results come for some days after an auction, so the last week ends three days before the run
    select
        coalesce(domain_name, 'source') || ' (' || cast(domain_id as string) || ')' as source,
        cast(floor((days_between(sale_date, as_of) - 3) / 7) as integer) as weeks_ago,
        min(day_of(as_of)) as run_day,
        count(*) as attempts,
        count(*) filter (where outcome = 'unresolved') as unresolved,
        count(*) filter (where outcome = 'sold') as sales,
        count(*) filter (where trust_reason = 'no_price') as unpriced,
        count(*) filter (where is_trusted) as prices,
        count(*) filter (where is_outlier) as outliers
    from sales
    cross join dim_settings
    where outcome <> 'upcoming' and sale_date <= as_of - interval '3' day and days_between(sale_date, as_of) <= 93
    group by all
),
listed_weeks as (
    -- the weeks of source_weeks, by the day on which the source listed the lot
    select
        coalesce(dim_sources.domain_name, 'source') || ' (' || cast(domain_id as string) || ')' as source,
        cast(floor((days_between(created_at, as_of) - 3) / 7) as integer) as weeks_ago,
        min(day_of(as_of)) as run_day,
        count(*) as lots,
        count(*) filter (where year_origin = 'doubted') as doubted,
        count(*) filter (where year_origin = 'vin') as from_vin
    from lots
    inner join lot_cars using (lot_id)
    inner join dim_sources using (domain_id)
    cross join dim_settings
    where created_at <= as_of - interval '3' day and days_between(created_at, as_of) <= 93
    group by all
),
parts_of_weeks as (
    select source, weeks_ago, run_day, 'no_result_share' as metric, unresolved as part, attempts as whole from source_weeks
    union all
    select source, weeks_ago, run_day, 'no_amount_share', unpriced, sales from source_weeks
    union all
    select source, weeks_ago, run_day, 'outlier_share', outliers, prices from source_weeks
    union all
    select source, weeks_ago, run_day, 'doubted_year_share', doubted, lots from listed_weeks
    union all
    select source, weeks_ago, run_day, 'year_from_vin_share', from_vin, lots from listed_weeks
),
compared_weeks as (
    select
        *,
        part / whole as share,
        sum(part) over weeks_before / sum(whole) over weeks_before as share_before,
        sum(whole) over weeks_before as whole_before
    from parts_of_weeks
    where whole > 0
    window weeks_before as (
        partition by source, metric
        order by weeks_ago nulls last
        rows between 1 following and unbounded following
    )
)
-- a week alarms if chance does not explain by how much it exceeds the weeks before: Wilson's bounds of both shares at
-- three standard deviations do not meet, and five points lie between the shares
select
    source || ', week of ' || cast(cast(run_day - interval '9' day - 7 * weeks_ago * interval '1' day as date) as string)
        as subject,
    metric,
    share,
    weeks_ago = 0 and whole >= 20 and share >= share_before + 0.05
        and (share + 4.5 / whole - 3 * sqrt(share * (1 - share) / whole + 2.25 / (whole * whole))) / (1 + 9 / whole)
        > (
            share_before + 4.5 / whole_before
            + 3 * sqrt(share_before * (1 - share_before) / whole_before + 2.25 / (whole_before * whole_before))
        ) / (1 + 9 / whole_before) as is_high
from compared_weeks
union all
-- what was always so is no news, but no source is used to 3 % doubted prices, or to half of the results or years missing
select
    source,
    metric,
    share,
    (share + 4.5 / whole - 3 * sqrt(share * (1 - share) / whole + 2.25 / (whole * whole))) / (1 + 9 / whole)
        > case when metric = 'outlier_share' then 0.03 else 0.5 end
from (
    select source, metric, sum(whole) as whole, sum(part) / sum(whole) as share
    from parts_of_weeks
    where whole > 0
    group by source, metric
) as whole_sources
