-- The lots of a VIN, a lot number or a lot id, and their vehicles.
select lot_id, vehicle_id from lots where lot = $id
union
select lot_id, vehicle_id from lots where lot_id = try_cast($id as bigint)
union
select lot_id, vehicle_id from lots where vehicle_id in (select vehicle_id from vin_facts where vin = $id and vin <> '')
order by lot_id
