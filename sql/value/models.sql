-- The models of a make that have prices or offers, by each name that they have.
select distinct joined_to as id, model_name as name
from dim_models
where joined_to in (select model_id from price_inputs where manufacturer_id = $make)
order by id, name
