select
    id as price_id,
    _lot_id as lot_id,
    nullif(lot_id, _lot_id) as stated_lot_id,
    _vehicle_id as vehicle_id,
    _domain_id as domain_id,
    _position as position,
    status.id as status_id,
    status.name as status_name,
    bid,
    buy_now_price,
    sale_date,
    final_bid_updated_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from "lots[].prices[]"
