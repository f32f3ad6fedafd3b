-- Each model of each make on offer, those with the most lots first.
select manufacturer_name as make, model_name as model
from explore.lots_on_offer
where model_name is not null
group by all
order by count(*) desc, make, model
