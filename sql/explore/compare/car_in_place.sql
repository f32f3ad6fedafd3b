-- What a make or model brought in a state: its trusted prices, whatever their mix.
select 'Median price of ' || $car || ' there (quartiles)' as figure, 'money' as unit, median(price) as value,
    quantile_cont(price, 0.25) as low, quantile_cont(price, 0.75) as high, count(price) as based_on, sales.currency
from sales
join lot_groups on lot_groups.lot_id = sales.lot_id
where lower(state_code) = lower($name) and price is not null and sales.currency is not null
    and lower(manufacturer_name) = lower($make) and ($model is null or lower(model_name) = lower($model))
group by sales.currency
having enough(count(price))
order by based_on desc
limit 1
