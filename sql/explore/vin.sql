-- The VIN of a vehicle as others are compared with it, and what is wrong with it.
select vin, reason from vin_facts where vehicle_id = $vehicle_id
