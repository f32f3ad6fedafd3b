-- What a damage or title does to the price of a make or model, all else alike.
select 'Price within ' || $car || ' at ' || domain_name || ', all else alike (95%)' as figure, 'ratio' as unit, effect as value, effect_low as low,
    effect_high as high, prices as based_on, null as currency
from price_levels
where market = 'auction' and subject = $factor and lower(value) = lower($name)
    and level = case when $model is null then 'manufacturer' else 'model' end
    and lower(manufacturer_name) = lower($make) and ($model is null or lower(model_name) = lower($model))
order by prices desc
limit 3
