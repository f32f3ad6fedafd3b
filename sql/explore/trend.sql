-- The price level of a make or model by month, at the source with most of its prices: 100 is the average of the market's base year.
with trend as (
    select *, sum(priced_lots) over (partition by domain_id) as source_prices
    from price_trends
    where level = case when $model is null then 'make' else 'model' end
        and lower(manufacturer_name) = lower($make) and ($model is null or lower(model_name) = lower($model))
        and price_index is not null and currency is not null
)
select sale_month as moment, domain_id, domain_name, price_index as value, price_index_low as interval_low,
    price_index_high as interval_high, priced_lots as based_on, case when observed = 'part' then 'so far' end as state
from trend
where domain_id = (select domain_id from trend order by source_prices desc, domain_id limit 1)
order by moment, domain_id
