-- The makes that have prices or offers.
select distinct manufacturer_id as id, manufacturer_name as name
from (select distinct manufacturer_id from price_inputs)
inner join dim_manufacturers using (manufacturer_id)
order by id
