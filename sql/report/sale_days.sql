-- How long the lots of the models and sources with most timed sales stand until they are sold.
select *, sold_days_p25 as low, sold_days_median as middle, sold_days_p75 as high, timed_lots as based_on
from days_on_market
where level = 'model' and sold_days_median is not null
order by timed_lots desc, domain_id, manufacturer_id, model_id
limit 12
