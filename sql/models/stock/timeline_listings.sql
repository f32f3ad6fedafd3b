with evidence as (
    select lot_id, field, seen_at, old_value, cast(null as double) as odometer_km
    from lot_changes
    where field in ('bid', 'buy_now', 'seller_reserve_price', 'odometer_km')
    union all
    select lot_id, 'archived', archived_at, null, null from archived_lots
    union all
    select lot_id, 'reading', null, null, odometer_km from odometer_readings
),
known as (
    -- What other tables say of a field. An empty text stands for a value that was null, since min_by passes over a null in
    -- one engine alone.
    select
        vehicle_id,
        evidence.lot_id,
        max(evidence.odometer_km) as reading_km,
        bool_or(field = 'archived') as is_in_archive_feed,
        min_by(coalesce(old_value, ''), seen_at) filter (where field = 'bid') as first_bid,
        min_by(coalesce(old_value, ''), seen_at) filter (where field = 'buy_now') as first_buy_now,
        min_by(coalesce(old_value, ''), seen_at) filter (where field = 'seller_reserve_price') as first_reserve,
        min_by(coalesce(old_value, ''), seen_at) filter (where field = 'odometer_km') as first_odometer
    from evidence
    inner join lots on lots.lot_id = evidence.lot_id
    group by vehicle_id, evidence.lot_id
),
dated_lots as (
    select
        lot_id,
        vehicle_id,
        domain_id,
        lot,
        bid,
        buy_now,
        seller_reserve_price,
        odometer_km,
        archived,
        archived_by,
        first_seen_at,
        plausible_date(sale_date, last_day) as sale_date,
        plausible_date(created_at, last_day) as created_at,
        plausible_date(archived_at, last_day) as archived_at,
        plausible_date(bid_updated_at, last_day) as bid_updated_at,
        plausible_date(buy_now_updated_at, last_day) as buy_now_updated_at,
        plausible_date(seller_reserve_updated_at, last_day) as seller_reserve_updated_at
    from lots
    cross join dim_settings
    where vehicle_id is not null
),
statements as (
    -- what a lot says now of each field whose changes are events
    select
        lots.lot_id,
        lots.vehicle_id,
        lots.domain_id,
        trim(lots.lot) as lot,
        lot_groups.currency,
        fields.field,
        event,
        step,
        fields.field in ('bid', 'buy_now', 'seller_reserve_price') as is_amount,
        case fields.field
            -- no bid comes after its auction
            when 'bid' then coalesce(lots.bid_updated_at, least(lots.first_seen_at, coalesce(lots.sale_date, lots.first_seen_at)))
            when 'buy_now' then coalesce(lots.buy_now_updated_at, lots.first_seen_at)
            when 'seller_reserve_price' then coalesce(lots.seller_reserve_updated_at, lots.first_seen_at)
            when 'odometer_km' then coalesce(lots.created_at, lots.first_seen_at)
            -- the archive feed says more of an archiving than the lot
            when 'archived' then case when lots.archived and not coalesce(is_in_archive_feed, false) then lots.archived_at end
        end as occurred_at,
        lots.first_seen_at,
        case fields.field
            when 'bid' then lots.bid
            when 'buy_now' then lots.buy_now
            when 'seller_reserve_price' then lots.seller_reserve_price
        end as amount,
        case when fields.field = 'odometer_km' then lots.odometer_km end as odometer_km,
        case when fields.field = 'odometer_km' then reading_km end as reading_km,
        case fields.field
            when 'bid' then first_bid
            when 'buy_now' then first_buy_now
            when 'seller_reserve_price' then first_reserve
            when 'odometer_km' then first_odometer
        end as first_value,
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
    from dated_lots as lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    left join known on known.vehicle_id = lots.vehicle_id and known.lot_id = lots.lot_id
    cross join (
        values ('odometer_km', 'listed', 10), ('bid', 'bid', 31), ('buy_now', 'buy_now', 32),
            ('seller_reserve_price', 'reserve', 33), ('archived', 'archived', 60)
    ) as fields (field, event, step)
),
compared as (
    -- Of an amount that changed, the first value was there when lotlake first saw the lot. The odometer of a listing is the
    -- one before the first change: a reading that the source replaced was a mistake.
    select *, first_value is not null as has_changed, is_amount and first_value is not null as is_first_amount
    from statements
    where occurred_at is not null
),
firsts as (
    select
        vehicle_id,
        domain_id,
        lot_id,
        lot,
        currency,
        event,
        step,
        case when is_first_amount then first_seen_at else occurred_at end as occurred_at,
        case when is_first_amount then 'lot_changes' else 'lots' end as evidence_table,
        case when is_first_amount then field end as evidence_id,
        case when is_first_amount then try_cast(first_value as double) else amount end as amount,
        case
            when field = 'odometer_km' and has_changed then try_cast(first_value as bigint)
            else odometer_km
        end as odometer_km,
        case when not has_changed then reading_km end as reading_km,
        case when is_first_amount then 'when first seen' else description end as description,
        is_amount
    from compared
)
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
from firsts
where amount > 0 or not is_amount
