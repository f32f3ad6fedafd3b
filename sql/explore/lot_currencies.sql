-- The currency of each lot of a vehicle.
select lot_id, currency from lot_groups where vehicle_id = $vehicle_id
