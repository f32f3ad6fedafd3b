-- The price level of a make or model by source and month: 100 is the average of the market's base year.
select sale_month as moment, domain_id, domain_name, price_index as value, price_index_low as interval_low,
    price_index_high as interval_high, priced_lots as based_on, case when observed = 'part' then 'so far' end as state,
    index_own_weight
from price_trends
where level = case when $model is null then 'make' else 'model' end
    and lower(manufacturer_name) = lower($make) and ($model is null or lower(model_name) = lower($model))
    and price_index is not null and currency is not null
order by moment, domain_id
