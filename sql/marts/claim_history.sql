with source_reports as (
    select domain_id, listing_id, report_id
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
        coalesce(nullif(trim(date_precision_key), ''), 'unknown') as date_precision_key,
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
dated as (
    select
        source_events.domain_id,
        source_events.listing_id,
        source_events.report_id,
        source_events.position,
        source_events.vehicle_id,
        source_events.type_key,
        source_events.subtype_key,
        source_events.status_key,
        source_events.occurred_at,
        source_events.date_precision_key,
        case source_events.date_precision_key
            when 'datetime' then source_events.occurred_at
            when 'day' then date_trunc('day', source_events.occurred_at)
            when 'month' then date_trunc('month', source_events.occurred_at)
            when 'year' then date_trunc('year', source_events.occurred_at)
        end as occurred_from,
        case source_events.date_precision_key
            when 'datetime' then source_events.occurred_at
            when 'day' then date_trunc('day', source_events.occurred_at) + interval '1' day
            when 'month' then date_trunc('month', source_events.occurred_at) + interval '1' month
            when 'year' then date_trunc('year', source_events.occurred_at) + interval '1' year
        end as occurred_before,
        source_events.mileage_km,
        source_events.currency,
        source_events.amount_total,
        source_events.amount_insurance_benefit,
        source_events.amount_parts,
        source_events.amount_labor,
        source_events.amount_painting
    from source_events
    inner join source_reports
        on source_reports.report_id = source_events.report_id
        and source_reports.listing_id is not distinct from source_events.listing_id
        and source_reports.domain_id is not distinct from source_events.domain_id
),
numbered as (
    select
        *,
        row_number() over (
            partition by domain_id, listing_id, report_id
            order by occurred_from nulls last, occurred_before nulls last, position
        ) as event_number,
        count(*) over (partition by domain_id, listing_id, report_id, type_key) as report_type_events,
        sum(amount_total) over (
            partition by domain_id, listing_id, report_id, type_key, currency
        ) as report_type_amount
    from dated
),
neighbours as (
    -- in this order an interval overlaps an earlier one that ends after its start, or the next one that starts before its end
    select
        *,
        max(occurred_before) over (
            partition by domain_id, listing_id, report_id
            order by event_number
            rows between unbounded preceding and 1 preceding
        ) as earlier_before,
        lag(occurred_from) over (partition by domain_id, listing_id, report_id order by event_number) as previous_from,
        lead(occurred_from) over (partition by domain_id, listing_id, report_id order by event_number) as next_from
    from numbered
),
final as (
    select
        domain_id,
        listing_id,
        report_id,
        position,
        vehicle_id,
        event_number,
        type_key,
        subtype_key,
        status_key,
        occurred_at,
        date_precision_key,
        occurred_from,
        occurred_before,
        occurred_from is not null
        and not (
            coalesce(earlier_before > occurred_from, false)
            or coalesce(previous_from = occurred_from, false)
            or coalesce(next_from = occurred_from, false)
            or coalesce(next_from < occurred_before, false)
        ) as is_order_certain,
        mileage_km,
        currency,
        amount_total,
        amount_insurance_benefit,
        amount_parts,
        amount_labor,
        amount_painting,
        report_type_events,
        report_type_amount
    from neighbours
)
select * from final
