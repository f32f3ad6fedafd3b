with evidence as (
    select lot_id, field, seen_at, old_value, new_value, cast(null as double) as odometer_km
    from lot_changes
    where field in ('bid', 'buy_now', 'seller_reserve_price', 'odometer_km', 'archived', 'vehicle_id')
    union all
    -- no event, but what the window of the lot takes for its reading
    select lot_id, 'reading', null, null, null, odometer_km from odometer_readings
),
changes as (
    select
        known_lots.*,
        field,
        seen_at,
        old_value,
        new_value,
        max(odometer_km) over (partition by vehicle_id, evidence.lot_id) as reading_of_lot,
        lead(seen_at) over (partition by vehicle_id, evidence.lot_id, field order by seen_at nulls last) is null as is_last
    from evidence
    inner join known_lots on known_lots.lot_id = evidence.lot_id
)
select
    vehicle_id,
    domain_id,
    lot_id,
    lot,
    currency,
    case field
        when 'seller_reserve_price' then 'reserve'
        when 'odometer_km' then 'odometer'
        when 'archived' then case when new_value <> 'true' then 'returned' else 'archived' end
        when 'vehicle_id' then 'moved'
        else field
    end as event,
    case field
        when 'odometer_km' then 20
        when 'bid' then 31
        when 'buy_now' then 32
        when 'seller_reserve_price' then 33
        when 'archived' then 60
        when 'vehicle_id' then 70
    end as step,
    seen_at as occurred_at,
    'lot_changes' as evidence_table,
    field as evidence_id,
    case
        when field in ('bid', 'buy_now', 'seller_reserve_price') then nullif(try_cast(new_value as double), 0)
    end as amount,
    case when field = 'odometer_km' then try_cast(new_value as bigint) end as odometer_km,
    case when field = 'odometer_km' and is_last then reading_of_lot end as reading_km,
    case field
        when 'vehicle_id' then 'from vehicle ' || coalesce(old_value, 'unknown')
        when 'archived' then 'as lotlake saw it'
        else 'before ' || coalesce(old_value, 'none')
    end as description
from changes
-- the last archiving stands in archived_lots or lots
where field <> 'reading' and not (field = 'archived' and new_value = 'true' and is_last)
