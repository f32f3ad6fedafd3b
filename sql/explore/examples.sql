-- Cars to estimate for example: the models with the most lots at auction that have an estimate, in the model year of most of them.
select manufacturer_name as make, model_name as model, mode(year) as year
from explore.lots_on_offer
where market = 'auction' and estimate is not null and model_name is not null and year is not null
group by all
order by count(*) desc, make, model
limit 3
