-- Each CTE is read once, so that a filter on one vehicle reaches the tables.
with evidence_of_lots as (
    select
        lot_id,
        field,
        seen_at as occurred_at,
        'lot_changes' as evidence_table,
        field as evidence_id,
        cast(null as string) as price_id,
        old_value,
        new_value,
        cast(null as double) as amount,
        cast(null as string) as description
    from lot_changes
    where field in ('bid', 'buy_now', 'seller_reserve_price', 'odometer_km', 'archived', 'vehicle_id')
    union all
    select
        prices.lot_id,
        'price',
        prices.sale_date,
        'prices',
        price_id,
        price_id,
        null,
        null,
        nullif(bid, 0),
        coalesce(nullif(trim(status_name), ''), 'unknown')
    from prices
    where sale_date is not null
    union all
    select
        lot_id,
        outcome,
        sale_date,
        'sales',
        cast(attempt as string),
        price_id,
        null,
        null,
        amount,
        coalesce(outlier_reason, trust_basis, trust_reason)
    from sales
    union all
    select
        lot_id,
        'archived_feed',
        archived_at,
        'archived_lots',
        null,
        null,
        null,
        null,
        null,
        coalesce(nullif(trim(status_name), ''), 'unknown')
    from archived_lots
    union all
    -- no event, but what the window of the lot takes for its reading
    select lot_id, 'reading', null, 'odometer_readings', null, null, null, null, odometer_km, null
    from odometer_readings
),
-- What a lot says now of each field whose changes are events.
statements as (
    select
        lots.lot_id,
        lots.vehicle_id,
        lots.domain_id,
        trim(lots.lot) as lot,
        lot_groups.currency,
        fields.field,
        case fields.field
            -- no bid comes after its auction
            when 'bid' then coalesce(lots.bid_updated_at, least(lots.first_seen_at, coalesce(lots.sale_date, lots.first_seen_at)))
            when 'buy_now' then coalesce(lots.buy_now_updated_at, lots.first_seen_at)
            when 'seller_reserve_price' then coalesce(lots.seller_reserve_updated_at, lots.first_seen_at)
            when 'odometer_km' then coalesce(lots.created_at, lots.first_seen_at)
            when 'archived' then case when lots.archived then lots.archived_at end
        end as occurred_at,
        lots.first_seen_at,
        case fields.field
            when 'bid' then lots.bid
            when 'buy_now' then lots.buy_now
            when 'seller_reserve_price' then lots.seller_reserve_price
        end as amount,
        lots.odometer_km,
        case fields.field
            when 'odometer_km' then lot_groups.title_name || ', ' || lot_groups.damage_main
            when 'archived' then coalesce(lots.archived_by, 'unknown')
            else case
                when fields.field = 'bid' and lots.bid_updated_at is null
                    or fields.field = 'buy_now' and lots.buy_now_updated_at is null
                    or fields.field = 'seller_reserve_price' and lots.seller_reserve_updated_at is null
                then 'when first seen'
                else 'as the lot says'
            end
        end as description
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    cross join (
        values ('bid'), ('buy_now'), ('seller_reserve_price'), ('odometer_km'), ('archived')
    ) as fields (field)
    where lots.vehicle_id is not null
),
lot_rows as (
    select
        known_lots.vehicle_id,
        known_lots.domain_id,
        evidence_of_lots.lot_id,
        known_lots.lot,
        known_lots.currency,
        evidence_of_lots.field,
        evidence_of_lots.evidence_table,
        evidence_of_lots.evidence_id,
        evidence_of_lots.price_id,
        evidence_of_lots.occurred_at,
        case when evidence_of_lots.evidence_table = 'lot_changes' then evidence_of_lots.occurred_at end as changed_at,
        null as first_seen_at,
        evidence_of_lots.old_value,
        evidence_of_lots.new_value,
        evidence_of_lots.amount,
        cast(null as bigint) as odometer_km,
        evidence_of_lots.description
    from evidence_of_lots
    inner join known_lots on known_lots.lot_id = evidence_of_lots.lot_id
    union all
    select
        vehicle_id,
        domain_id,
        lot_id,
        lot,
        currency,
        field,
        'lots',
        null,
        null,
        occurred_at,
        null,
        first_seen_at,
        null,
        null,
        amount,
        odometer_km,
        description
    from statements
),
lot_rows_in_order as (
    select
        *,
        field in ('bid', 'buy_now', 'seller_reserve_price') as is_amount,
        evidence_table = 'lots' as is_statement,
        -- the archive feed says more of an archiving than the lot
        field = 'archived' and bool_or(field = 'archived_feed') over (partition by vehicle_id, lot_id) as is_in_archive_feed,
        max(case when field = 'reading' then amount end) over (partition by vehicle_id, lot_id) as reading_of_lot,
        -- an entry of the price history that decides an attempt is the attempt
        price_id is not null and bool_or(evidence_table = 'sales') over (partition by vehicle_id, lot_id, price_id)
            and evidence_table = 'prices' as is_attempt,
        count(changed_at) over (partition by vehicle_id, lot_id, field) > 0 as has_changed,
        first_value(old_value) over (
            partition by vehicle_id, lot_id, field
            order by changed_at nulls last
            rows between unbounded preceding and unbounded following
        ) as value_before,
        lead(changed_at) over (partition by vehicle_id, lot_id, field order by changed_at nulls last) is null as is_last
    from lot_rows
),
lot_events as (
    -- Of an amount that changed, each value has the time when lotlake saw it. The first one was there when it first saw the lot.
    -- The odometer of a listing is the one before the first change: a reading that the source replaced was a mistake.
    select
        vehicle_id,
        case
            when field = 'buy_now' and domain_id = 12 then 'asking_price'
            when field = 'seller_reserve_price' then 'reserve'
            when field = 'odometer_km' then case when is_statement then 'listed' else 'odometer' end
            when field = 'archived' then case when new_value <> 'true' then 'returned' else 'archived' end
            when field = 'archived_feed' then 'archived'
            when field = 'vehicle_id' then 'moved'
            when field = 'price' then 'price_entry'
            else field
        end as event,
        case
            when is_statement and field = 'odometer_km' then 10
            when field = 'odometer_km' then 20
            when field = 'bid' then 31
            when field = 'buy_now' then 32
            when field = 'seller_reserve_price' then 33
            when field = 'price' then 40
            when field in ('archived', 'archived_feed') then 60
            when field = 'vehicle_id' then 70
            else 50
        end as step,
        is_amount and is_statement as must_be_positive,
        case when is_first_amount then first_seen_at else occurred_at end as occurred_at,
        domain_id,
        lot_id,
        lot,
        case when is_first_amount then 'lot_changes' else evidence_table end as evidence_table,
        case when is_first_amount then field else evidence_id end as evidence_id,
        case
            when not is_amount then amount
            when evidence_table = 'lot_changes' then nullif(try_cast(new_value as double), 0)
            when has_changed then try_cast(value_before as double)
            else amount
        end as amount,
        currency,
        case
            when field <> 'odometer_km' then null
            when evidence_table = 'lot_changes' then try_cast(new_value as bigint)
            when has_changed then try_cast(value_before as bigint)
            else odometer_km
        end as odometer_km,
        case
            when field = 'odometer_km' and (case when is_statement then not has_changed else is_last end) then reading_of_lot
        end as reading_km,
        case
            when evidence_table = 'lot_changes' then case field
                when 'vehicle_id' then 'from vehicle ' || coalesce(old_value, 'unknown')
                when 'archived' then 'as lotlake saw it'
                else 'before ' || coalesce(old_value, 'none')
            end
            when is_first_amount then 'when first seen'
            else description
        end as description
    from (select *, is_statement and is_amount and has_changed as is_first_amount from lot_rows_in_order) as lot_rows_judged
    -- the last archiving stands in archived_lots or lots
    where not (evidence_table = 'lot_changes' and field = 'archived' and new_value = 'true' and is_last) and not is_attempt
        and not (is_statement and is_in_archive_feed) and field <> 'reading'
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
    -- Reports stay that are no longer delivered: most go because their listing ends.
    select
        'inspection' as event,
        1 as step,
        'inspections' as evidence_table,
        vehicle_id,
        domain_id,
        listing_id,
        report_id,
        cast(null as bigint) as position,
        coalesce(inspected_at, created_at) as occurred_at,
        coalesce(inspected_at_local, created_at_local) as occurred_local,
        -- the odometer was read at some time up to then
        created_at as read_at,
        cast(null as double) as amount,
        cast(null as string) as currency,
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
        null,
        coalesce(checked_at, created_at),
        coalesce(checked_at_local, created_at_local),
        created_at,
        null,
        null,
        vehicle_snapshot_mileage_km,
        'claims ' || coalesce(cast(summary_insurance_claim_count as string), 'unknown')
            || ', owner changes ' || coalesce(cast(summary_owner_change_count as string), 'unknown')
    from history_reports
    where vehicle_id is not null
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
        case
            when report_entries.step = 3 then coalesce(reports.checked_at, reports.created_at)
            else report_entries.occurred_at
        end,
        case
            when report_entries.step = 3 then coalesce(reports.checked_at_local, reports.created_at_local)
            else report_entries.occurred_local
        end,
        case when length(report_entries.occurred_local) >= 10 then report_entries.occurred_at end,
        report_entries.amount,
        report_entries.currency,
        report_entries.odometer_km,
        report_entries.description
    from report_entries
    inner join history_reports as reports
        on reports.report_id = report_entries.report_id
        and reports.listing_id is not distinct from report_entries.listing_id
        and reports.domain_id is not distinct from report_entries.domain_id
        and reports.gone_at is not distinct from report_entries.gone_at
    where reports.vehicle_id is not null
),
lots_by_number as (
    select vehicle_id, domain_id, lot, max(lot_id) as lot_id from known_lots group by all
),
events_of_vehicles as (
    select
        vehicle_id,
        event,
        step,
        occurred_at,
        cast(null as string) as occurred_local,
        'datetime' as date_precision_key,
        domain_id,
        lot_id,
        lot,
        evidence_table,
        evidence_id,
        cast(null as bigint) as position,
        amount,
        case when amount is not null then currency end as currency,
        odometer_km,
        reading_km,
        day_of(occurred_at) as read_on,
        description
    from lot_events
    where occurred_at is not null and (amount > 0 or not must_be_positive)
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
        day_of(report_events.read_at),
        report_events.description
    from report_events
    left join lots_by_number
        on lots_by_number.vehicle_id = report_events.vehicle_id
        and lots_by_number.domain_id = report_events.domain_id
        and lots_by_number.lot = report_events.listing_id
)
select
    happened.vehicle_id,
    cast(row_number() over (
        partition by happened.vehicle_id
        order by
            occurred_at nulls last,
            step nulls last,
            lot_id nulls last,
            position nulls last,
            evidence_id nulls last
    ) as bigint) as place,
    event,
    occurred_at,
    occurred_local,
    date_precision_key,
    domain_id,
    lot_id,
    lot,
    evidence_table,
    evidence_id,
    amount,
    currency,
    happened.odometer_km,
    case when happened.reading_km is not null then rollbacks.vehicle_id is not null end as odometer_rollback,
    rollbacks.odometer_highest_km,
    description
from events_of_vehicles as happened
left join odometer_rollbacks as rollbacks
    on rollbacks.vehicle_id = happened.vehicle_id
    and rollbacks.read_on = happened.read_on
    and rollbacks.odometer_km = happened.reading_km
