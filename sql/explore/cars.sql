-- Cars whose VIN, or the end of it, or lot number is the one that is asked for.
with found as (
    select vehicle_id, 'VIN ' || vin as named, null as domain_name, false as is_address from vin_facts where vin = $vin or (length($vin) between 6 and 16 and suffix(vin, $vin))
    union
    select vehicle_id, 'lot ' || trim(lot) || ' of ' || domain_name, domain_name, coalesce(trim(lot) <> $id, true) from lots
    where (trim(lot) = $id or external_id in ($id || '~US', $id || '~CA')) and vehicle_id is not null
    union
    -- cars of which the service delivers only archived lots
    select vehicle_id, 'VIN ' || upper(trim(vin)), null, false from archived_lots
    where upper(trim(vin)) = $vin and vehicle_id is not null
        and not exists (select 1 from vehicles where vehicles.vehicle_id = archived_lots.vehicle_id)
    union
    select vehicle_id, 'lot ' || trim(lot) || ' of ' || domain_name, domain_name, false from archived_lots where trim(lot) = $id and vehicle_id is not null
    limit 20
)
select found.*, facts.year, makes.manufacturer_name as make, names.model_name as model
from found
left join vehicle_facts as facts on facts.vehicle_id = found.vehicle_id
left join dim_manufacturers as makes on makes.manufacturer_id = facts.manufacturer_id
left join dim_models as names on names.model_id = facts.model_id
order by found.vehicle_id, named
