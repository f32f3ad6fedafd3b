-- How long the lots of the models and sources with most timed sales stand until they are sold.
select *, days_p25 as low, days_median as middle, days_p75 as high, timed_lots as based_on
from time_to_sale
where days_median is not null
order by timed_lots desc, domain_id, manufacturer_id, model_id
limit 12
