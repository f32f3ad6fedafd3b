-- The lots of a vehicle that are on offer, the soonest auctions first.
from explore.lots_on_offer where vehicle_id = $vehicle_id order by sale_date nulls last, lot_id limit 20
