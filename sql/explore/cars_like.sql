-- Cars whose VIN differs in one or two letters from the one that is asked for, so that one half of it is right, or whose lot
-- number differs in one digit.
with near_vin as (
    select vehicle_id, 'VIN ' || vin as named, levenshtein(vin, $vin) as edits
    from vin_facts
    where length($vin) between 15 and 17 and (left(vin, 8) = left($vin, 8) or right(vin, 8) = right($vin, 8))
        and levenshtein(vin, $vin) <= 2
),
near_lot as (
    select vehicle_id, 'lot ' || trim(lot) || ' of ' || domain_name as named, 1 as edits
    from lots
    where regexp_full_match($id, '\d+') and length(trim(lot)) = length($id) and hamming(trim(lot), $id) = 1
        and vehicle_id is not null
),
found as (
    from near_vin union all from near_lot order by edits, named limit 20
)
select found.*, facts.year, makes.manufacturer_name as make, names.model_name as model
from found
left join vehicle_facts as facts on facts.vehicle_id = found.vehicle_id
left join dim_manufacturers as makes on makes.manufacturer_id = facts.manufacturer_id
left join dim_models as names on names.model_id = facts.model_id
order by edits, named
