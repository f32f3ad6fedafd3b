with reports as (
    -- one number replaces a key of three columns, which halves the time of windows
    select
        domain_id,
        listing_id,
        report_id,
        created_at_offset,
        row_number() over (order by domain_id nulls last, listing_id nulls last, report_id nulls last) as report_number
    from history_reports
    where gone_at is null
),
dated_events as (
    select
        *,
        plausible_event_date(occurred_at, last_day) as happened_at,
        case when plausible_event_date(occurred_at, last_day) is not null then occurred_at_local end as happened_local
    from events
    cross join dim_settings
    where gone_at is null
),
entries as (
    select
        reports.report_number,
        events.domain_id,
        events.listing_id,
        events.report_id,
        events.position,
        events.vehicle_id,
        coalesce(nullif(trim(type_key), ''), 'unknown') as type_key,
        nullif(trim(subtype_key), '') as subtype_key,
        nullif(trim(status_key), '') as status_key,
        happened_at as occurred_at,
        happened_local as occurred_local,
        length(happened_local) as local_length,
        case length(happened_local)
            when 4 then 'year'
            when 7 then 'month'
            when 10 then 'day'
            when 19 then 'datetime'
            else coalesce(nullif(trim(date_precision_key), ''), 'unknown')
        end as date_precision_key,
        cast(
            left(happened_local, 10)
            || case length(happened_local) when 4 then '-01-01' when 7 then '-01' else '' end as date
        ) as occurred_from,
        coalesce(case when happened_at is not null then occurred_at_offset end, created_at_offset, 0) as minutes_ahead,
        mileage_km,
        case
            when coalesce(amount_total, amount_insurance_benefit, amount_parts, amount_labor, amount_painting) is not null
            then nullif(upper(trim(currency)), '')
        end as currency,
        amount_total,
        amount_insurance_benefit,
        amount_parts,
        amount_labor,
        amount_painting
    from dated_events as events
    inner join reports
        on reports.report_id = events.report_id
        and reports.listing_id is not distinct from events.listing_id
        and reports.domain_id is not distinct from events.domain_id
),
days as (
    select
        *,
        cast(
            case local_length
                when 4 then occurred_from + interval '1' year
                when 7 then occurred_from + interval '1' month
                else occurred_from + interval '1' day
            end as date
        ) as occurred_before
    from entries
),
dated as (
    -- The instants of a date. An exact time is one instant. Other dates span from their first instant to the one after
    -- their last, by their own offset or by the offset of their report.
    select
        *,
        case local_length
            when 19 then cast(occurred_at as timestamp)
            else cast(occurred_from as timestamp) - minutes_ahead * interval '1' minute
        end as span_from,
        case local_length
            when 19 then cast(occurred_at as timestamp)
            else cast(occurred_before as timestamp) - minutes_ahead * interval '1' minute
        end as span_before
    from days
),
ordered as (
    -- a span overlaps if an earlier span ends after its start, or if the next span starts before its end
    select
        *,
        row_number() over by_time as event_number,
        max(span_before) over (
            partition by report_number
            order by span_from nulls last, span_before nulls last, position nulls last
            rows between unbounded preceding and 1 preceding
        ) as earlier_before,
        lag(span_from) over by_time as previous_from,
        lead(span_from) over by_time as next_from
    from dated
    window by_time as (
        partition by report_number
        order by span_from nulls last, span_before nulls last, position nulls last
    )
),
types as (
    select report_number, type_key, count(*) as report_type_events from dated group by all
),
amounts as (
    select report_number, type_key, currency, sum(amount_total) as report_type_amount
    from dated
    where amount_total is not null
    group by all
)
select
    domain_id,
    listing_id,
    report_id,
    position,
    vehicle_id,
    cast(event_number as bigint) as event_number,
    ordered.type_key,
    subtype_key,
    status_key,
    occurred_at,
    occurred_local,
    date_precision_key,
    occurred_from,
    occurred_before,
    span_from is not null
    and not (
        coalesce(earlier_before > span_from, false)
        or coalesce(previous_from = span_from, false)
        or coalesce(next_from = span_from, false)
        or coalesce(next_from < span_before, false)
    ) as is_order_certain,
    mileage_km,
    ordered.currency,
    amount_total,
    amount_insurance_benefit,
    amount_parts,
    amount_labor,
    amount_painting,
    report_type_events,
    report_type_amount
from ordered
inner join types using (report_number, type_key)
left join amounts
    on amounts.report_number = ordered.report_number
    and amounts.type_key = ordered.type_key
    and amounts.currency is not distinct from ordered.currency
