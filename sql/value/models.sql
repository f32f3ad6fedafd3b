-- The models of a make that have prices or offers.
select distinct model_id as id, model_name as name
from (select distinct model_id from price_inputs where manufacturer_id = $make)
inner join dim_models using (model_id)
order by id
