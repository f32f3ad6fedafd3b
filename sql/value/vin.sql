-- What the VIN of a vehicle says, beside what the feed says.
select
    facts.reason,
    facts.model_year as vin_year,
    vehicles.year as feed_year,
    facts.manufacturer as vin_manufacturer,
    manufacturer_names.manufacturer_name as feed_manufacturer,
    facts.agrees_with_year,
    facts.agrees_with_make
from vin_facts as facts
left join vehicles on vehicles.vehicle_id = facts.vehicle_id
left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = vehicles.manufacturer_id
where facts.vehicle_id = $vehicle_id
