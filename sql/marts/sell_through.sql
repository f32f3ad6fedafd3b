with settings as (
    select max_by(minimum_group, started_at) as minimum_group from runs
),
source_names as (
    select domain_id, max(trim(domain_name)) as domain_name from lots group by domain_id
),
past_attempts as (
    select sale_month as month, domain_id, attempt, outcome from sales where outcome <> 'upcoming'
),
monthly as (
    select
        month,
        domain_id,
        count(case when outcome <> 'unresolved' then 1 end) as lots_offered,
        count(case when outcome = 'unresolved' then 1 end) as lots_unresolved,
        count(case when outcome = 'sold' then 1 end) as lots_sold,
        count(case when outcome = 'not_sold' then 1 end) as lots_not_sold,
        count(case when outcome = 'on_approval' then 1 end) as lots_on_approval,
        count(case when outcome <> 'unresolved' and attempt = 1 then 1 end) as first_offered,
        count(case when outcome = 'sold' and attempt = 1 then 1 end) as first_sold,
        count(case when outcome <> 'unresolved' and attempt > 1 then 1 end) as later_offered,
        count(case when outcome = 'sold' and attempt > 1 then 1 end) as later_sold
    from past_attempts
    group by month, domain_id
),
spread as (
    -- each month counts for itself and for the two after it
    select month, domain_id, lots_offered, lots_sold from monthly
    union all
    select cast(month + interval '1' month as date), domain_id, lots_offered, lots_sold from monthly
    union all
    select cast(month + interval '2' month as date), domain_id, lots_offered, lots_sold from monthly
),
quarterly as (
    select
        month,
        domain_id,
        sum(lots_offered) as lots_offered,
        sum(lots_sold) as lots_sold
    from spread
    group by month, domain_id
),
final as (
    select
        monthly.month,
        monthly.domain_id,
        source_names.domain_name,
        monthly.lots_offered,
        monthly.lots_unresolved,
        monthly.lots_sold,
        monthly.lots_not_sold,
        monthly.lots_on_approval,
        case
            when monthly.lots_offered >= settings.minimum_group
            then cast(monthly.lots_sold as double) / monthly.lots_offered
        end as sell_through,
        monthly.first_offered,
        monthly.first_sold,
        case
            when monthly.first_offered >= settings.minimum_group
            then cast(monthly.first_sold as double) / monthly.first_offered
        end as first_sell_through,
        monthly.later_offered,
        monthly.later_sold,
        case
            when monthly.later_offered >= settings.minimum_group
            then cast(monthly.later_sold as double) / monthly.later_offered
        end as later_sell_through,
        case
            when quarterly.lots_offered >= settings.minimum_group
            then cast(quarterly.lots_sold as double) / cast(quarterly.lots_offered as double)
        end as sell_through_3m
    from monthly
    cross join settings
    inner join quarterly on quarterly.month = monthly.month and quarterly.domain_id = monthly.domain_id
    left join source_names on source_names.domain_id = monthly.domain_id
)
select * from final
