-- What the cars of a model and year bring in the market of a source and country, by the prices of the last year.
select
    domain_id,
    country,
    currency,
    manufacturer_id,
    model_id,
    year,
    count(*) as prices,
    money(median(price)) as price_median,
    money(percentile_cont(0.1) within group (order by price)) as price_p10,
    money(percentile_cont(0.9) within group (order by price)) as price_p90
from price_inputs
left join price_doubts using (lot_id)
cross join dim_settings
where
    price is not null
    and reason is null
    and country <> 'unknown'
    and model_id is not null
    and year is not null
    and priced_at > as_of - interval '365' day
group by domain_id, country, currency, manufacturer_id, model_id, year
having enough(count(*))
