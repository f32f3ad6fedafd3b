select model_id, max(trim(model_name)) as model_name
from vehicles
where model_id is not null
group by all
