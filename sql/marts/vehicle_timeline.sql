with lake_lots as (
    select
        lots.lot_id,
        lots.vehicle_id,
        lots.domain_id,
        trim(lots.lot) as lot,
        coalesce(lots.created_at, lots.first_seen_at) as listed_at,
        lots.first_seen_at,
        lots.odometer_km,
        odometer_readings.odometer_km as reading_km,
        lot_groups.title_name,
        lot_groups.damage_main,
        lots.bid,
        lots.bid_updated_at,
        lots.buy_now,
        lots.buy_now_updated_at,
        lots.seller_reserve_price,
        lots.seller_reserve_updated_at,
        lots.archived,
        lots.archived_at,
        lots.archived_by,
        lot_groups.currency
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    left join odometer_readings on odometer_readings.lot_id = lots.lot_id
    where lots.vehicle_id is not null
),
archive_only_lots as (
    select
        archived_lots.lot_id,
        max(archived_lots.vehicle_id) as vehicle_id,
        cast(max(archived_lots.domain_id) as bigint) as domain_id,
        max(trim(archived_lots.lot)) as lot
    from archived_lots
    left join lots on lots.lot_id = archived_lots.lot_id
    where lots.lot_id is null and archived_lots.vehicle_id is not null
    group by archived_lots.lot_id
),
source_lots as (
    select * from lake_lots
    union all
    select
        archive_only_lots.lot_id,
        archive_only_lots.vehicle_id,
        archive_only_lots.domain_id,
        archive_only_lots.lot,
        null,
        null,
        null,
        null,
        'unknown',
        'unknown',
        null,
        null,
        null,
        null,
        null,
        null,
        false,
        null,
        null,
        currencies.currency
    from archive_only_lots
    left join currencies
        on currencies.domain_id = archive_only_lots.domain_id and currencies.country_iso = 'unknown'
),
changes as (
    select
        lot_id,
        field,
        case field when 'bid' then 31 when 'buy_now' then 32 when 'seller_reserve_price' then 33 end as amount_step,
        seen_at,
        old_value,
        new_value,
        lag(seen_at) over lot_fields is null as is_first,
        lead(seen_at) over lot_fields is null as is_last
    from lot_changes
    where field in ('bid', 'buy_now', 'seller_reserve_price', 'odometer_km', 'archived', 'vehicle_id')
    window lot_fields as (partition by lot_id, field order by seen_at nulls last)
),
first_changes as (
    select lot_id, field, amount_step, old_value from changes where is_first
),
deciding_prices as (
    select price_id from sales where price_id is not null
),
archived_in_feed as (
    select distinct lot_id from archived_lots
),
last_amounts as (
    select lot_id, 31 as step, bid as amount, coalesce(bid_updated_at, first_seen_at) as stated_at
    from source_lots
    where bid > 0
    union all
    select lot_id, 32, buy_now, coalesce(buy_now_updated_at, first_seen_at)
    from source_lots
    where buy_now > 0
    union all
    select lot_id, 33, seller_reserve_price, coalesce(seller_reserve_updated_at, first_seen_at)
    from source_lots
    where seller_reserve_price > 0
),
amounts as (
    -- A lot says when its amounts were last updated. Of an amount that changed, lotlake knows when it saw each value.
    select
        last_amounts.lot_id,
        last_amounts.step,
        last_amounts.stated_at,
        'lots' as evidence_table,
        cast(null as string) as evidence_id,
        last_amounts.amount,
        'as the lot says' as description
    from last_amounts
    left join first_changes
        on first_changes.lot_id = last_amounts.lot_id and first_changes.amount_step = last_amounts.step
    where first_changes.lot_id is null
    union all
    select
        source_lots.lot_id,
        first_changes.amount_step,
        source_lots.first_seen_at,
        'lot_changes',
        first_changes.field,
        try_cast(first_changes.old_value as double),
        'when first seen'
    from first_changes
    inner join source_lots on source_lots.lot_id = first_changes.lot_id
    where first_changes.amount_step is not null and try_cast(first_changes.old_value as double) > 0
    union all
    select
        lot_id,
        amount_step,
        seen_at,
        'lot_changes',
        field,
        nullif(try_cast(new_value as double), 0),
        'before ' || coalesce(old_value, 'none')
    from changes
    where amount_step is not null
),
lot_events as (
    -- the odometer is what it read before its first change; a reading that the source replaced was a mistake
    select
        source_lots.lot_id,
        'listed' as event,
        10 as step,
        source_lots.listed_at as occurred_at,
        'lots' as evidence_table,
        cast(null as string) as evidence_id,
        cast(null as double) as amount,
        case
            when first_changes.lot_id is null then source_lots.odometer_km
            else try_cast(first_changes.old_value as bigint)
        end as odometer_km,
        case when first_changes.lot_id is null then source_lots.reading_km end as reading_km,
        source_lots.title_name || ', ' || source_lots.damage_main as description
    from source_lots
    left join first_changes on first_changes.lot_id = source_lots.lot_id and first_changes.field = 'odometer_km'
    union all
    select
        changes.lot_id,
        'odometer',
        20,
        changes.seen_at,
        'lot_changes',
        changes.field,
        null,
        try_cast(changes.new_value as bigint),
        case when changes.is_last then source_lots.reading_km end,
        'before ' || coalesce(changes.old_value, 'none')
    from changes
    inner join source_lots on source_lots.lot_id = changes.lot_id
    where changes.field = 'odometer_km'
    union all
    select
        amounts.lot_id,
        case
            when amounts.step = 31 then 'bid'
            when amounts.step = 33 then 'reserve'
            when source_lots.domain_id = 12 then 'asking_price'
            else 'buy_now'
        end,
        amounts.step,
        amounts.stated_at,
        amounts.evidence_table,
        amounts.evidence_id,
        amounts.amount,
        null,
        null,
        amounts.description
    from amounts
    inner join source_lots on source_lots.lot_id = amounts.lot_id
    union all
    select
        prices.lot_id,
        'price_entry',
        40,
        prices.sale_date,
        'prices',
        prices.price_id,
        nullif(prices.bid, 0),
        null,
        null,
        coalesce(nullif(trim(prices.status_name), ''), 'unknown')
    from prices
    left join deciding_prices on deciding_prices.price_id = prices.price_id
    where prices.sale_date is not null and deciding_prices.price_id is null
    union all
    select
        lot_id,
        outcome,
        50,
        sale_date,
        'sales',
        cast(attempt as string),
        amount,
        null,
        null,
        coalesce(trust_basis, trust_reason)
    from sales
    union all
    select
        lot_id,
        'archived',
        60,
        archived_at,
        'archived_lots',
        null,
        null,
        null,
        null,
        coalesce(nullif(trim(status_name), ''), 'unknown')
    from archived_lots
    union all
    select
        source_lots.lot_id,
        'archived',
        60,
        source_lots.archived_at,
        'lots',
        null,
        null,
        null,
        null,
        coalesce(source_lots.archived_by, 'unknown')
    from source_lots
    left join archived_in_feed on archived_in_feed.lot_id = source_lots.lot_id
    where source_lots.archived and archived_in_feed.lot_id is null
    union all
    -- the last archiving stands in archived_lots or lots
    select
        lot_id,
        case new_value when 'true' then 'archived' else 'returned' end,
        60,
        seen_at,
        'lot_changes',
        field,
        null,
        null,
        null,
        'as lotlake saw it'
    from changes
    where field = 'archived' and not (new_value = 'true' and is_last)
    union all
    select
        lot_id,
        'moved',
        70,
        seen_at,
        'lot_changes',
        field,
        null,
        null,
        null,
        'from vehicle ' || coalesce(old_value, 'unknown')
    from changes
    where field = 'vehicle_id'
),
lots_by_number as (
    select vehicle_id, domain_id, lot, max(lot_id) as lot_id from source_lots group by vehicle_id, domain_id, lot
),
reports as (
    -- Reports stay that are no longer delivered: most go because their listing ends.
    select
        'inspection' as event,
        1 as step,
        'inspections' as evidence_table,
        vehicle_id,
        domain_id,
        listing_id,
        report_id,
        gone_at,
        created_at,
        coalesce(inspected_at, created_at) as occurred_at,
        coalesce(inspected_at_local, created_at_local) as occurred_local,
        vehicle_snapshot_mileage_km as odometer_km,
        'overall ' || coalesce(nullif(trim(conclusions_overall_result_key), ''), 'unknown')
            || ', accident ' || coalesce(nullif(trim(conclusions_accident_status_key), ''), 'unknown') as description
    from inspections
    where vehicle_id is not null
    union all
    select
        'history_report',
        2,
        'history_reports',
        vehicle_id,
        domain_id,
        listing_id,
        report_id,
        gone_at,
        created_at,
        coalesce(checked_at, created_at),
        coalesce(checked_at_local, created_at_local),
        vehicle_snapshot_mileage_km,
        'claims ' || coalesce(cast(summary_insurance_claim_count as string), 'unknown')
            || ', owner changes ' || coalesce(cast(summary_owner_change_count as string), 'unknown')
    from history_reports
    where vehicle_id is not null
),
report_entries as (
    select
        case
            when trim(type_key) in (
                'initial_registration', 'owner_change', 'registration_change', 'insurance_claim',
                'insurance_coverage_started', 'insurance_coverage_gap', 'maintenance', 'statutory_inspection', 'recall',
                'comparative_quote', 'total_loss', 'flood_damage', 'theft', 'usage_change'
            )
            then trim(type_key)
            else 'history_event'
        end as event,
        0 as step,
        'events' as evidence_table,
        domain_id,
        listing_id,
        report_id,
        position,
        gone_at,
        occurred_at,
        occurred_at_local as occurred_local,
        amount_total as amount,
        nullif(upper(trim(currency)), '') as currency,
        mileage_km as odometer_km,
        coalesce(nullif(trim(type_key), ''), 'unknown')
            || coalesce(', ' || nullif(trim(subtype_key), ''), '')
            || coalesce(', ' || nullif(trim(status_key), ''), '') as description
    from events
    union all
    select
        'check_present',
        3,
        'checks',
        domain_id,
        listing_id,
        report_id,
        position,
        gone_at,
        null,
        null,
        null,
        null,
        null,
        coalesce(nullif(trim(type_key), ''), 'unknown')
    from checks
    where trim(result_key) = 'present'
),
report_events as (
    select
        event,
        step,
        evidence_table,
        vehicle_id,
        domain_id,
        listing_id,
        report_id,
        cast(null as bigint) as position,
        occurred_at,
        occurred_local,
        -- the odometer was read at some time up to then
        created_at as read_at,
        cast(null as double) as amount,
        cast(null as string) as currency,
        odometer_km,
        description
    from reports
    union all
    -- an entry that its report no longer lists was a mistake
    select
        report_entries.event,
        report_entries.step,
        report_entries.evidence_table,
        reports.vehicle_id,
        reports.domain_id,
        reports.listing_id,
        reports.report_id,
        report_entries.position,
        case when report_entries.step = 3 then reports.occurred_at else report_entries.occurred_at end,
        case when report_entries.step = 3 then reports.occurred_local else report_entries.occurred_local end,
        case when length(report_entries.occurred_local) >= 10 then report_entries.occurred_at end,
        report_entries.amount,
        report_entries.currency,
        report_entries.odometer_km,
        report_entries.description
    from report_entries
    inner join reports
        on reports.step = 2
        and reports.report_id = report_entries.report_id
        and reports.listing_id is not distinct from report_entries.listing_id
        and reports.domain_id is not distinct from report_entries.domain_id
        and reports.gone_at is not distinct from report_entries.gone_at
),
events_of_vehicles as (
    select
        source_lots.vehicle_id,
        lot_events.event,
        lot_events.step,
        lot_events.occurred_at,
        cast(null as string) as occurred_local,
        'datetime' as date_precision_key,
        source_lots.domain_id,
        lot_events.lot_id,
        source_lots.lot,
        lot_events.evidence_table,
        lot_events.evidence_id,
        cast(null as bigint) as position,
        lot_events.amount,
        case when lot_events.amount is not null then source_lots.currency end as currency,
        lot_events.odometer_km,
        lot_events.reading_km,
        cast(lot_events.occurred_at as date) as read_on,
        lot_events.description
    from lot_events
    inner join source_lots on source_lots.lot_id = lot_events.lot_id
    where lot_events.occurred_at is not null
    union all
    select
        report_events.vehicle_id,
        report_events.event,
        -- of dates that begin together, the more precise one first
        report_events.step + 19 - length(coalesce(report_events.occurred_local, '')),
        case when report_events.occurred_local is not null then report_events.occurred_at end,
        report_events.occurred_local,
        case length(report_events.occurred_local)
            when 4 then 'year'
            when 7 then 'month'
            when 10 then 'day'
            when 19 then 'datetime'
            else 'unknown'
        end,
        report_events.domain_id,
        lots_by_number.lot_id,
        report_events.listing_id,
        report_events.evidence_table,
        coalesce(cast(report_events.domain_id as string), '') || '/' || coalesce(report_events.listing_id, '') || '/'
            || report_events.report_id || coalesce('/' || cast(report_events.position as string), ''),
        report_events.position,
        report_events.amount,
        case when report_events.amount is not null then report_events.currency end,
        report_events.odometer_km,
        case
            when report_events.read_at is not null and report_events.odometer_km between 1 and 2000000
            then report_events.odometer_km
        end,
        cast(report_events.read_at as date),
        report_events.description
    from report_events
    left join lots_by_number
        on lots_by_number.vehicle_id = report_events.vehicle_id
        and lots_by_number.domain_id = report_events.domain_id
        and lots_by_number.lot = report_events.listing_id
),
reading_days as (
    -- readings of one day are in no order; the highest of them stands for the day
    select vehicle_id, read_on, min(reading_km) as lowest_km, max(reading_km) as km
    from events_of_vehicles
    where reading_km is not null
    group by vehicle_id, read_on
),
neighbours as (
    select
        *,
        lag(km) over vehicle_days as km_before,
        lead(km) over vehicle_days as km_after,
        cast(read_on - lag(read_on) over vehicle_days as bigint) as days_since
    from reading_days
    window vehicle_days as (partition by vehicle_id order by read_on nulls last)
),
judged_days as (
    select
        vehicle_id,
        read_on,
        lowest_km,
        km,
        -- a drop by 1.609 is one distance in kilometres and in miles: neither reading counts
        coalesce(km_before / km between 1.577 and 1.642, false)
        or coalesce(km / km_after between 1.577 and 1.642, false) as is_other_unit,
        -- a rise by more than 1,000 km a day is a mistake
        coalesce(km - km_before > 1000 * (1 + days_since), false) as is_leap
    from neighbours
),
floors as (
    select
        vehicle_id,
        read_on,
        lowest_km,
        is_other_unit,
        max(case when not is_other_unit and not is_leap then km end) over (
            partition by vehicle_id
            order by read_on nulls last
            rows between unbounded preceding and 1 preceding
        ) as highest_km
    from judged_days
),
rolled_back_days as (
    select vehicle_id, read_on, highest_km from floors where lowest_km < highest_km - 1000 and not is_other_unit
),
final as (
    select
        events_of_vehicles.vehicle_id,
        cast(row_number() over (
            partition by events_of_vehicles.vehicle_id
            order by
                events_of_vehicles.occurred_at nulls last,
                events_of_vehicles.step nulls last,
                events_of_vehicles.lot_id nulls last,
                events_of_vehicles.position nulls last,
                events_of_vehicles.evidence_id nulls last
        ) as bigint) as place,
        events_of_vehicles.event,
        events_of_vehicles.occurred_at,
        events_of_vehicles.occurred_local,
        events_of_vehicles.date_precision_key,
        events_of_vehicles.domain_id,
        events_of_vehicles.lot_id,
        events_of_vehicles.lot,
        events_of_vehicles.evidence_table,
        events_of_vehicles.evidence_id,
        events_of_vehicles.amount,
        events_of_vehicles.currency,
        events_of_vehicles.odometer_km,
        case
            when events_of_vehicles.reading_km is not null
            then coalesce(events_of_vehicles.reading_km < rolled_back_days.highest_km - 1000, false)
        end as odometer_rollback,
        case
            when events_of_vehicles.reading_km < rolled_back_days.highest_km - 1000 then rolled_back_days.highest_km
        end as odometer_highest_km,
        events_of_vehicles.description
    from events_of_vehicles
    left join rolled_back_days
        on rolled_back_days.vehicle_id = events_of_vehicles.vehicle_id
        and rolled_back_days.read_on = events_of_vehicles.read_on
)
select * from final
