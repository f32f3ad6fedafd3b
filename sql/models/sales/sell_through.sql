with past_attempts as (
    -- lots sold before the lake began had left: an unobserved attempt has a month, but its outcome does not count
    select sale_month as month, domain_id, attempt, case when is_observed then outcome end as outcome
    from sales
    where outcome <> 'upcoming'
),
months as (
    select
        past_attempts.month,
        past_attempts.domain_id,
        max(
            case
                when observed_spans.observed_from <= past_attempts.month
                    and observed_spans.observed_to >= past_attempts.month + interval '1' month
                then 2
                when observed_spans.observed_from < observed_spans.observed_to
                    and observed_spans.observed_to > past_attempts.month
                    and observed_spans.observed_from < past_attempts.month + interval '1' month
                then 1
                else 0
            end
        ) as observed
    from (select distinct month, domain_id from past_attempts) as past_attempts
    left join observed_spans on observed_spans.domain_id = past_attempts.domain_id
    group by past_attempts.month, past_attempts.domain_id
),
monthly as (
    select
        months.month,
        months.domain_id,
        case months.observed when 2 then 'whole' when 1 then 'part' else 'none' end as observed,
        case when months.observed > 0 then 1 end as counts,
        count(case when past_attempts.outcome <> 'unresolved' then 1 end) as lots_offered,
        count(case when past_attempts.outcome = 'unresolved' then 1 end) as lots_unresolved,
        count(case when past_attempts.outcome = 'sold' then 1 end) as lots_sold,
        count(case when past_attempts.outcome = 'not_sold' then 1 end) as lots_not_sold,
        count(case when past_attempts.outcome = 'on_approval' then 1 end) as lots_on_approval,
        count(case when past_attempts.outcome <> 'unresolved' and past_attempts.attempt = 1 then 1 end) as first_offered,
        count(case when past_attempts.outcome = 'sold' and past_attempts.attempt = 1 then 1 end) as first_sold,
        count(case when past_attempts.outcome <> 'unresolved' and past_attempts.attempt > 1 then 1 end) as later_offered,
        count(case when past_attempts.outcome = 'sold' and past_attempts.attempt > 1 then 1 end) as later_sold
    from months
    inner join past_attempts
        on past_attempts.month = months.month and past_attempts.domain_id = months.domain_id
    group by months.month, months.domain_id, months.observed
),
months_by_window as (
    -- each month counts for itself and the two months after
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
    from months_by_window
    group by month, domain_id
),
final as (
    select
        monthly.month,
        monthly.domain_id,
        source_names.domain_name,
        monthly.observed,
        monthly.lots_offered * monthly.counts as lots_offered,
        monthly.lots_unresolved * monthly.counts as lots_unresolved,
        monthly.lots_sold * monthly.counts as lots_sold,
        monthly.lots_not_sold * monthly.counts as lots_not_sold,
        monthly.lots_on_approval * monthly.counts as lots_on_approval,
        case
            when monthly.lots_offered >= settings.minimum_group
            then cast(monthly.lots_sold as double) / monthly.lots_offered
        end as sell_through,
        monthly.first_offered * monthly.counts as first_offered,
        monthly.first_sold * monthly.counts as first_sold,
        case
            when monthly.first_offered >= settings.minimum_group
            then cast(monthly.first_sold as double) / monthly.first_offered
        end as first_sell_through,
        monthly.later_offered * monthly.counts as later_offered,
        monthly.later_sold * monthly.counts as later_sold,
        case
            when monthly.later_offered >= settings.minimum_group
            then cast(monthly.later_sold as double) / monthly.later_offered
        end as later_sell_through,
        case
            when monthly.counts = 1 and quarterly.lots_offered >= settings.minimum_group
            then cast(quarterly.lots_sold as double) / cast(quarterly.lots_offered as double)
        end as sell_through_3m
    from monthly
    cross join dim_settings as settings
    inner join quarterly on quarterly.month = monthly.month and quarterly.domain_id = monthly.domain_id
    left join dim_sources as source_names on source_names.domain_id = monthly.domain_id
)
select * from final
