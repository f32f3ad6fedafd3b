with bought as (
    -- what the cars of a model and year cost at a destination, from the market of a source and country
    select
        landed.destination,
        landed.currency,
        inputs.domain_id,
        inputs.country,
        inputs.manufacturer_id,
        inputs.model_id,
        inputs.year,
        count(*) as offers,
        median(cost) as cost_median,
        percentile_cont(0.1) within group (order by cost) as cost_p10,
        percentile_cont(0.9) within group (order by cost) as cost_p90
    from (
        select lot_id, destination, currency, cost from landed_costs
    ) as landed
    inner join price_inputs as inputs on inputs.lot_id = landed.lot_id
    where cost is not null and inputs.model_id is not null and inputs.year is not null
    group by all
    having enough(count(*))
),
sold as (
    -- what they bring in the country of a destination, in its currency
    select
        destinations.destination,
        prices.domain_id,
        prices.country,
        prices.model_id,
        prices.year,
        prices.prices,
        prices.price_median * rate as price_median,
        prices.price_p10 * rate as price_p10,
        prices.price_p90 * rate as price_p90
    from costs.market_prices as prices
    inner join costs.destinations on destinations.country = prices.country
    inner join costs.rates on rates.from_currency = prices.currency and rates.to_currency = destinations.currency
)
select
    bought.destination,
    bought.manufacturer_id,
    manufacturers.manufacturer_name,
    bought.model_id,
    models.model_name,
    bought.year,
    bought.domain_id as bought_domain_id,
    bought.country as bought_country,
    there.prices as bought_prices,
    there.price_median as bought_price_median,
    there.currency as bought_currency,
    sold.domain_id as sold_domain_id,
    sold.country as sold_country,
    sold.prices as sold_prices,
    bought.currency,
    bought.offers,
    money(bought.cost_median) as cost_median,
    money(bought.cost_p10) as cost_p10,
    money(bought.cost_p90) as cost_p90,
    money(sold.price_median) as price_median,
    money(sold.price_p10) as price_p10,
    money(sold.price_p90) as price_p90,
    money(sold.price_median - bought.cost_median) as gap,
    money(sold.price_p10 - bought.cost_p90) as gap_low,
    money(sold.price_p90 - bought.cost_p10) as gap_high
from bought
inner join sold
    on sold.destination = bought.destination
    and sold.model_id = bought.model_id
    and sold.year = bought.year
    and (sold.domain_id <> bought.domain_id or sold.country <> bought.country)
left join costs.market_prices as there
    on there.domain_id = bought.domain_id
    and there.country = bought.country
    and there.model_id = bought.model_id
    and there.year = bought.year
left join dim_manufacturers as manufacturers on manufacturers.manufacturer_id = bought.manufacturer_id
left join dim_models as models on models.model_id = bought.model_id
