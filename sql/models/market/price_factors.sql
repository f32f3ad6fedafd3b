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
    group by all
),
nodes as (
    -- makes, models and generations: depth 2, 1 and 0
    select
        markets.market,
        markets.currency,
        depth,
        names.make,
        names.model,
        names.generation,
        log_effect,
        deviation,
        cast(sum(node_prices.prices) as bigint) as prices
    from fit.nodes as nodes
    inner join fit.markets as markets on markets.number = nodes.market
    inner join fit.node_names as names on names.market = nodes.market and names.node = nodes.node
    inner join node_prices
        on node_prices.market = markets.market and node_prices.currency = markets.currency
        and node_prices.make = names.make
        and (depth = 2 or node_prices.model = names.model)
        and (depth > 0 or node_prices.generation = names.generation)
    group by all
),
generation_names as (
    select generation_id, max(trim(generation_name)) as generation_name from vehicles group by generation_id
),
of_vehicles as (
    select
        market,
        currency,
        case depth when 0 then 'generation' when 1 then 'model' else 'manufacturer' end as factor,
        make || case when depth < 2 then '/' || model else '' end || case when depth = 0 then '/' || generation else '' end
            as level,
        coalesce(manufacturer_name, 'unknown')
            || case when depth < 2 then ' ' || coalesce(model_name, 'unknown') else '' end
            || case when depth = 0 then ' ' || coalesce(generation_name, 'unknown') else '' end as name,
        'all' as reference,
        log_effect,
        deviation,
        prices
    from nodes
    left join dim_manufacturers on manufacturer_id = make
    left join dim_models on model_id = model
    left join generation_names on generation_id = generation
),
group_names as (
    select
        *,
        case when name in ('engine', 'fuel', 'drive', 'body') then try_cast(first_part as bigint) end as model_id,
        case when name in ('age_by_make', 'mileage_by_make') then try_cast(first_part as bigint) end as manufacturer_id,
        case when name in ('branch', 'seller') then try_cast(first_part as bigint) end as domain_id
    from fit.groups
),
of_groups as (
    -- what lots of one group have in common beside the factors, such as an engine within its model
    select
        markets.market,
        markets.currency,
        group_names.name as factor,
        group_names.level,
        coalesce(model_name, manufacturer_name, domain_name, first_part) || coalesce(', ' || second_part, '') as name,
        'all' as reference,
        log_effect,
        deviation,
        group_names.prices
    from fit.group_effects as group_effects
    inner join fit.markets as markets on markets.number = group_effects.market
    inner join group_names
        on group_names.market = group_effects.market
        and group_names.kind = group_effects.kind
        and group_names.code = group_effects.code
    left join dim_models using (model_id)
    left join dim_manufacturers on dim_manufacturers.manufacturer_id = group_names.manufacturer_id
    left join dim_sources using (domain_id)
),
gains as (
    select markets.market, markets.currency, found.name as factor, gain
    from fit.gains as gains
    inner join fit.markets as markets on markets.number = gains.market
    inner join (select distinct market, name, kind from fit.groups) as found
        on found.market = gains.market and found.kind = gains.kind
),
factors as (
    select * from effects
    union all
    select * from of_vehicles
    union all
    select * from of_groups
),
usual as (
    select market, currency, median(odometer_km / age_years) as usual_km_a_year
    from price_inputs
    where price is not null and age_years >= 1 and odometer_km is not null
    group by market, currency
)
select
    market,
    currency,
    factor,
    level,
    name,
    reference,
    exp(log_effect) as effect,
    usual_km_a_year,
    exp(log_effect - margin_95(deviation)) as effect_low,
    exp(log_effect + margin_95(deviation)) as effect_high,
    prices,
    gain as backtest_gain
from factors
left join usual using (market, currency)
left join gains using (market, currency, factor)
