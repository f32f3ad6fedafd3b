with source_reports as (
    -- one number replaces a key of three columns, which halves the time of windows and joins
    select
        domain_id,
        listing_id,
        report_id,
        row_number() over (order by domain_id nulls last, listing_id nulls last, report_id nulls last) as report_number,
        created_at_offset as report_offset
    from history_reports
    where gone_at is null
),
source_events as (
    select
        domain_id,
        listing_id,
        report_id,
        position,
        vehicle_id,
        coalesce(nullif(trim(type_key), ''), 'unknown') as type_key,
        nullif(trim(subtype_key), '') as subtype_key,
        nullif(trim(status_key), '') as status_key,
        occurred_at,
        occurred_at_local as occurred_local,
        occurred_at_offset as occurred_offset,
        case length(occurred_at_local)
            when 4 then 'year'
            when 7 then 'month'
            when 10 then 'day'
            when 19 then 'datetime'
            else coalesce(nullif(trim(date_precision_key), ''), 'unknown')
        end as date_precision_key,
        cast(
            left(occurred_at_local, 10)
            || case length(occurred_at_local) when 4 then '-01-01' when 7 then '-01' else '' end as date
        ) as occurred_from,
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
    from events
    where gone_at is null
),
days as (
    select
        *,
        cast(
            case length(occurred_local)
                when 4 then occurred_from + interval '1' year
                when 7 then occurred_from + interval '1' month
                else occurred_from + interval '1' day
            end as date
        ) as occurred_before
    from source_events
),
dated as (
    -- The instants of a date. An exact time is one instant. Other dates span from their first instant to the one after
    -- their last, by their own offset or by the offset of their report.
    select
        source_reports.report_number,
        days.domain_id,
        days.listing_id,
        days.report_id,
        days.position,
        days.vehicle_id,
        days.type_key,
        days.subtype_key,
        days.status_key,
        days.occurred_at,
        days.occurred_local,
        days.date_precision_key,
        days.occurred_from,
        days.occurred_before,
        case length(days.occurred_local)
            when 19 then cast(days.occurred_at as timestamp)
            else cast(days.occurred_from as timestamp)
            - coalesce(days.occurred_offset, source_reports.report_offset, 0) * interval '1' minute
        end as span_from,
        case length(days.occurred_local)
            when 19 then cast(days.occurred_at as timestamp)
            else cast(days.occurred_before as timestamp)
            - coalesce(days.occurred_offset, source_reports.report_offset, 0) * interval '1' minute
        end as span_before,
        days.mileage_km,
        days.currency,
        days.amount_total,
        days.amount_insurance_benefit,
        days.amount_parts,
        days.amount_labor,
        days.amount_painting
    from days
    inner join source_reports
        on source_reports.report_id = days.report_id
        and source_reports.listing_id is not distinct from days.listing_id
        and source_reports.domain_id is not distinct from days.domain_id
),
ordered as (
    -- a span overlaps if an earlier span ends after its start, or if the next span starts before its end
    select
        *,
        row_number() over (
            partition by report_number
            order by span_from nulls last, span_before nulls last, position nulls last
        ) as event_number,
        max(span_before) over (
            partition by report_number
            order by span_from nulls last, span_before nulls last, position nulls last
            rows between unbounded preceding and 1 preceding
        ) as earlier_before,
        lag(span_from) over (
            partition by report_number
            order by span_from nulls last, span_before nulls last, position nulls last
        ) as previous_from,
        lead(span_from) over (
            partition by report_number
            order by span_from nulls last, span_before nulls last, position nulls last
        ) as next_from
    from dated
),
types as (
    select report_number, type_key, count(*) as report_type_events
    from dated
    group by report_number, type_key
),
amounts as (
    select report_number, type_key, currency, sum(amount_total) as report_type_amount
    from dated
    where amount_total is not null
    group by report_number, type_key, currency
),
final as (
    select
        ordered.domain_id,
        ordered.listing_id,
        ordered.report_id,
        ordered.position,
        ordered.vehicle_id,
        cast(ordered.event_number as bigint) as event_number,
        ordered.type_key,
        ordered.subtype_key,
        ordered.status_key,
        ordered.occurred_at,
        ordered.occurred_local,
        ordered.date_precision_key,
        ordered.occurred_from,
        ordered.occurred_before,
        ordered.span_from is not null
        and not (
            coalesce(ordered.earlier_before > ordered.span_from, false)
            or coalesce(ordered.previous_from = ordered.span_from, false)
            or coalesce(ordered.next_from = ordered.span_from, false)
            or coalesce(ordered.next_from < ordered.span_before, false)
        ) as is_order_certain,
        ordered.mileage_km,
        ordered.currency,
        ordered.amount_total,
        ordered.amount_insurance_benefit,
        ordered.amount_parts,
        ordered.amount_labor,
        ordered.amount_painting,
        types.report_type_events,
        amounts.report_type_amount
    from ordered
    inner join types
        on types.report_number = ordered.report_number
        and types.type_key = ordered.type_key
    left join amounts
        on amounts.report_number = ordered.report_number
        and amounts.type_key = ordered.type_key
        and amounts.currency is not distinct from ordered.currency
)
select * from final
