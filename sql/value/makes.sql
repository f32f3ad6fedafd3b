-- The makes that have prices or offers, by each name that they have.
select distinct joined_to as id, manufacturer_name as name
from dim_manufacturers
where joined_to in (select manufacturer_id from price_inputs)
order by id, name
