-- Each CTE is read once, so that a filter on one vehicle reaches the tables.
with lot_events as (
    select
        vehicle_id,
        domain_id,
        lot_id,
        lot,
        currency,
        event,
        step,
        occurred_at,
        evidence_table,
        evidence_id,
        amount,
        odometer_km,
        reading_km,
        description
    from timeline_listings
    union all
    select
        vehicle_id,
        domain_id,
        lot_id,
        lot,
        currency,
        event,
        step,
        occurred_at,
        evidence_table,
        evidence_id,
        amount,
        odometer_km,
        reading_km,
        description
    from timeline_changes
    union all
    select
        vehicle_id,
        domain_id,
        lot_id,
        lot,
        currency,
        event,
        step,
        occurred_at,
        evidence_table,
        evidence_id,
        amount,
        null,
        null,
        description
    from timeline_auctions
),
happened as (
    select
        vehicle_id,
        case when event = 'buy_now' and domain_id = 12 then 'asking_price' else event end as event,
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
    union all
    select
        vehicle_id,
        event,
        step,
        occurred_at,
        occurred_local,
        date_precision_key,
        domain_id,
        lot_id,
        lot,
        evidence_table,
        evidence_id,
        position,
        amount,
        currency,
        odometer_km,
        reading_km,
        read_on,
        description
    from timeline_reports
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
from happened
left join odometer_rollbacks as rollbacks
    on rollbacks.vehicle_id = happened.vehicle_id
    and rollbacks.read_on = happened.read_on
    and rollbacks.odometer_km = happened.reading_km
