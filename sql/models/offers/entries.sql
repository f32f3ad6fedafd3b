with told_lots as (
    -- the lots of the lake, and those that only the archive feed told of
    select
        lot_cars.lot_id,
        lots.lot_id is not null as is_in_lake,
        lot_cars.vehicle_id,
        case when lots.lot_id is null then archived.domain_id else lots.domain_id end as domain_id,
        lots.buy_now as lot_buy_now,
        case when sightings.seen_at > clock.as_of then clock.as_of else sightings.seen_at end as seen_at,
        archived.lot_id is not null as is_archived,
        archived.archived_at,
        -- the archive feed takes a lot in after its auction; an auction that it dates after that was not held
        archived.archived_at >= archived.sale_date as is_after_sale,
        -- if the archive feed calls the lot sold after the auction, the lot is sold for that amount
        case when archived.status_id = 6 and is_after_sale then day_of(archived.sale_date) end as confirmed_day,
        archived.final_bid as confirmed_amount,
        clock.as_of,
        clock.last_day
    from lot_cars
    left join lots on lots.lot_id = lot_cars.lot_id
    left join last_archivings as archived on archived.lot_id = lot_cars.lot_id
    left join sightings on sightings.lot_id = lot_cars.lot_id
    cross join dim_settings as clock
),
auction_lots as (
    select
        *,
        -- the archive feed has the last values of a lot that it archived after the lot itself was last seen
        case when is_archived and (seen_at is null or archived_at > seen_at) then 'archive' else 'lot' end as last_origin
    from told_lots
    where is_auction(domain_id) and (is_in_lake or is_after_sale)
),
told_entries as (
    select
        lot_id,
        'history' as origin,
        price_id,
        status_id,
        sale_date,
        bid as amount,
        buy_now_price as buy_now,
        final_bid_updated_at as told_at,
        gone_at is not null as is_gone
    from prices
    -- an entry that left the price history before its date was an announcement, not an auction
    where gone_at is null or gone_at > sale_date
    union all
    select lot_id, 'lot', null, status_id, sale_date, final_bid, buy_now, final_bid_updated_at, false
    from lots
    union all
    select lot_id, 'archive', null, status_id, sale_date, final_bid, buy_now, final_bid_updated_at, false
    from last_archivings
),
entries_of_lots as (
    select
        *,
        day_of(sale_date) as sale_day,
        case when origin = 'archive' then buy_now else coalesce(buy_now, lot_buy_now) end as known_buy_now,
        case when origin = 'archive' then archived_at when not is_gone then seen_at end as observed_at,
        plausible_date(told_at, last_day) as recorded_at
    from told_entries
    inner join auction_lots using (lot_id)
    where plausible_date(sale_date, last_day) is not null and origin in ('history', last_origin)
),
proven_entries as (
    select
        *,
        case
            when status_id is null or status_id <> 6 then 0
            when amount > 0 and amount = known_buy_now then 2
            when confirmed_day = sale_day and confirmed_amount = amount then 1
            else 0
        end as proof
    from entries_of_lots
)
select
    lot_id,
    vehicle_id,
    domain_id,
    case when is_in_lake then origin else 'archive_only' end as evidence,
    price_id,
    status_id,
    sale_date,
    sale_day,
    nullif(amount, 0) as amount,
    plausible_price(known_buy_now) as buy_now,
    proof,
    -- proof settles the result; else the auction is 12 hours past, and the lot was seen then, or the result was recorded after
    -- the start
    proof > 0
        or as_of >= sale_date + interval '12' hour
            and coalesce(observed_at >= sale_date + interval '12' hour or recorded_at >= sale_date, false) as is_settled
from proven_entries
