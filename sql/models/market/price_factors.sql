with effects as (
    select
        markets.market,
        markets.currency,
        effects.factor,
        effects.level,
        effects.level as name,
        compared.level as reference,
        effects.log_effect,
        effects.deviation,
        cast(round(effects.prices) as bigint) as prices
    from fit.effects as effects
    inner join fit.markets as markets on markets.number = effects.market
    inner join fit.effects as compared on compared.market = effects.market and compared.coefficient = effects.reference
),
node_prices as (
    select
        market,
        currency,
        coalesce(manufacturer_id, -1) as make,
        coalesce(model_id, -1) as model,
        coalesce(generation_id, -1) as generation,
        count(price) as prices
    from price_inputs
    group by market, currency, coalesce(manufacturer_id, -1), coalesce(model_id, -1), coalesce(generation_id, -1)
),
generations_named as (
    select generation_id, max(trim(generation_name)) as generation_name from vehicles group by generation_id
),
named_nodes as (
    select
        markets.market,
        markets.currency,
        names.depth,
        names.make,
        names.model,
        names.generation,
        nodes.log_effect,
        nodes.deviation,
        cast(sum(node_prices.prices) as bigint) as prices
    from fit.nodes as nodes
    inner join fit.markets as markets on markets.number = nodes.market
    inner join fit.node_names as names on names.market = nodes.market and names.node = nodes.node
    inner join node_prices
        on node_prices.market = markets.market and node_prices.currency = markets.currency
        and node_prices.make = names.make
        and (names.depth = 2 or node_prices.model = names.model)
        and (names.depth > 0 or node_prices.generation = names.generation)
    group by
        markets.market, markets.currency, names.depth, names.make, names.model, names.generation,
        nodes.log_effect, nodes.deviation
),
of_vehicles as (
    select
        named_nodes.market,
        named_nodes.currency,
        case named_nodes.depth when 0 then 'generation' when 1 then 'model' else 'manufacturer' end as factor,
        named_nodes.make
            || case when named_nodes.depth < 2 then '/' || named_nodes.model else '' end
            || case when named_nodes.depth = 0 then '/' || named_nodes.generation else '' end as level,
        coalesce(manufacturer_names.manufacturer_name, 'unknown')
            || case when named_nodes.depth < 2 then ' ' || coalesce(model_names.model_name, 'unknown') else '' end
            || case when named_nodes.depth = 0 then ' ' || coalesce(generations_named.generation_name, 'unknown') else '' end
            as name,
        'all' as reference,
        named_nodes.log_effect,
        named_nodes.deviation,
        named_nodes.prices
    from named_nodes
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = named_nodes.make
    left join dim_models as model_names on model_names.model_id = named_nodes.model
    left join generations_named on generations_named.generation_id = named_nodes.generation
),
usual as (
    select market, currency, percentile_cont(0.5) within group (order by odometer_km / age_years) as usual_km_a_year
    from price_inputs
    where price is not null and age_years >= 1 and odometer_km is not null
    group by market, currency
),
final as (
    select
        levels.market,
        levels.currency,
        factor,
        level,
        name,
        reference,
        exp(log_effect) as effect,
        usual.usual_km_a_year,
        exp(log_effect - 1.96 * deviation) as effect_low,
        exp(log_effect + 1.96 * deviation) as effect_high,
        prices
    from (select * from effects union all select * from of_vehicles) as levels
    left join usual on usual.market = levels.market and usual.currency = levels.currency
)
select * from final
