-- Three-month medians of the six models (with generation) with most prices, in the known currency of most prices; one
-- row a month and source.
with recent as (
    select * from price_trends
    where level = 'generation'
        and sale_month > (select max(sale_month) from price_trends) - interval 18 month
        and currency = (
            select currency from price_trends
            where level = 'generation' and currency is not null
            group by currency
            order by sum(priced_lots) desc, currency
            limit 1
        )
),
top as (
    select manufacturer_id, model_id, generation_id, sum(priced_lots) as prices
    from recent
    where model_id is not null
    group by all
    having count(price_median_3m) > 0
    order by prices desc, manufacturer_id, model_id, generation_id
    limit 6
)
select
    r.*,
    r.sale_month as moment,
    r.price_median_3m as value,
    r.priced_lots_3m as based_on,
    case when r.sale_month + interval 1 month > (select as_of from dim_settings) then 'so far' end as state
from recent as r
join top as t on r.manufacturer_id is not distinct from t.manufacturer_id
    and r.model_id = t.model_id and r.generation_id is not distinct from t.generation_id
order by t.prices desc, r.manufacturer_id, r.model_id, r.generation_id, r.domain_id, r.sale_month
