with priced as (
    -- what a price leaves beside the estimate that does not know it, as a logarithm
    select
        inputs.market,
        inputs.currency,
        coalesce(inputs.domain_id, -1) as domain_id,
        coalesce(inputs.manufacturer_id, -1) as manufacturer_id,
        coalesce(inputs.model_id, -1) as model_id,
        coalesce(inputs.generation_id, -1) as generation_id,
        inputs.damage_main_group,
        inputs.title_brand,
        inputs.sold_by,
        left(cast(inputs.priced_month as string), 7) as priced_month,
        inputs.odometer_km,
        inputs.age_years,
        ln(inputs.price / estimates.estimate) as log_left,
        -- 1 / variance, from the interval of 80 %, which is 2.563 standard deviations wide
        2.563 * 2.563 / (ln(estimates.high_80 / estimates.low_80) * ln(estimates.high_80 / estimates.low_80)) as precision_of_price
    from price_inputs as inputs
    inner join price_estimates as estimates on estimates.lot_id = inputs.lot_id
    where inputs.price is not null and estimates.low_80 > 0 and estimates.high_80 > estimates.low_80 and not estimates.is_left_out
),
factors as (
    select
        market,
        currency,
        factor,
        level,
        usual_km_a_year,
        ln(effect) as log_effect,
        -- its interval of 95 % is 3.92 standard deviations wide
        ln(effect_high / effect_low) * ln(effect_high / effect_low) / (3.92 * 3.92) as variance
    from price_factors
    where effect > 0
),
points as (
    select
        market,
        currency,
        level,
        usual_km_a_year,
        log_effect,
        cast(level as double) as km,
        lead(cast(level as double)) over (partition by market, currency order by cast(level as double) nulls last) as next_km,
        lead(log_effect) over (partition by market, currency order by cast(level as double) nulls last) as next_effect
    from factors
    where factor = 'mileage'
),
named as (
    select priced.*, 'damage_main_group' as subject, damage_main_group as value from priced
    union all
    select priced.*, 'title_brand' as subject, title_brand as value from priced
    union all
    select priced.*, 'sold_by' as subject, sold_by as value from priced
    union all
    select priced.*, 'month' as subject, priced_month as value from priced
),
effects as (
    select
        named.market,
        named.currency,
        named.subject,
        named.value,
        named.domain_id,
        named.manufacturer_id,
        named.model_id,
        named.generation_id,
        named.precision_of_price,
        named.log_left + factors.log_effect as log_effect
    from named
    inner join factors
        on factors.market = named.market
        and factors.currency = named.currency
        and factors.factor = named.subject
        and factors.level = named.value
    union all
    -- the effect of mileage is a line between points; a price counts for the point below it
    select
        priced.market,
        priced.currency,
        'mileage' as subject,
        points.level as value,
        priced.domain_id,
        priced.manufacturer_id,
        priced.model_id,
        priced.generation_id,
        priced.precision_of_price,
        priced.log_left + (points.next_effect - points.log_effect)
            * (priced.odometer_km - points.usual_km_a_year * priced.age_years - points.km) / (points.next_km - points.km)
            + points.log_effect as log_effect
    from priced
    inner join points
        on points.market = priced.market
        and points.currency = priced.currency
        and priced.odometer_km - points.usual_km_a_year * priced.age_years >= points.km
        and priced.odometer_km - points.usual_km_a_year * priced.age_years < points.next_km
),
grouped as (
    select
        market,
        currency,
        subject,
        value,
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        count(*) as prices,
        sum(precision_of_price) as weight,
        sum(precision_of_price * log_effect) / sum(precision_of_price) as log_effect
    from effects
    group by grouping sets (
        (market, currency, subject, value),
        (market, currency, subject, value, domain_id),
        (market, currency, subject, value, domain_id, manufacturer_id),
        (market, currency, subject, value, domain_id, manufacturer_id, model_id),
        (market, currency, subject, value, domain_id, manufacturer_id, model_id, generation_id)
    )
),
placed as (
    select
        grouped.*,
        case
            when domain_id is null then 'all'
            when manufacturer_id is null then 'source'
            when model_id is null then 'manufacturer'
            when generation_id is null then 'model'
            else 'generation'
        end as level,
        case
            when domain_id is null then null
            when manufacturer_id is null then ''
            when model_id is null then '/' || domain_id
            when generation_id is null then '/' || domain_id || '/' || manufacturer_id
            else '/' || domain_id || '/' || manufacturer_id || '/' || model_id
        end as above,
        coalesce('/' || domain_id, '') || coalesce('/' || manufacturer_id, '') || coalesce('/' || model_id, '')
            || coalesce('/' || generation_id, '') as place
    from grouped
),
differences as (
    select
        placed.*,
        placed.weight * (placed.log_effect - parents.log_effect) * (placed.log_effect - parents.log_effect) as square,
        1 - placed.weight / parents.weight as freedom,
        placed.weight * (1 - placed.weight / parents.weight) as free_weight
    from placed
    left join placed as parents
        on parents.market = placed.market
        and parents.currency = placed.currency
        and parents.subject = placed.subject
        and parents.value = placed.value
        and parents.place = placed.above
),
spreads as (
    -- how far groups lie from the level above beyond the noise of their means, as the analysis of variance has it
    select
        market,
        currency,
        subject,
        level,
        greatest((sum(square) - sum(freedom)) / nullif(sum(free_weight), 0), 0) as spread
    from differences
    where above is not null
    group by market, currency, subject, level
),
weighed as (
    -- how much of a group's own mean counts: all of the level all
    select
        differences.market,
        differences.currency,
        differences.subject,
        differences.value,
        differences.level,
        differences.domain_id,
        differences.manufacturer_id,
        differences.model_id,
        differences.generation_id,
        differences.place,
        differences.above,
        differences.prices,
        -- prices of the value itself show the effect of the level all as price_factors has it; what they leave would count twice
        case when differences.above is null then factors.log_effect else differences.log_effect end as log_effect,
        case when differences.above is null then 0 else 1 / differences.weight end as variance,
        factors.variance as shared_variance,
        case
            when differences.above is null then 1
            when coalesce(spreads.spread, 0) = 0 then 0
            else spreads.spread / (spreads.spread + 1 / differences.weight)
        end as own_weight
    from differences
    inner join factors
        on factors.market = differences.market
        and factors.currency = differences.currency
        and factors.factor = differences.subject
        and factors.level = differences.value
    left join spreads
        on spreads.market = differences.market
        and spreads.currency = differences.currency
        and spreads.subject = differences.subject
        and spreads.level = differences.level
),
pooled as (
    select
        weighed.*,
        weighed.own_weight * weighed.log_effect + (1 - weighed.own_weight) * coalesce(
            over_1.own_weight * over_1.log_effect + (1 - over_1.own_weight) * coalesce(
                over_2.own_weight * over_2.log_effect + (1 - over_2.own_weight) * coalesce(
                    over_3.own_weight * over_3.log_effect + (1 - over_3.own_weight) * coalesce(over_4.log_effect, 0), 0
                ), 0
            ), 0
        ) as log_pooled,
        -- all levels share the error of the effect, and so that of the reference
        weighed.shared_variance + weighed.own_weight * weighed.variance
        + (1 - weighed.own_weight) * (1 - weighed.own_weight) * coalesce(
            over_1.own_weight * over_1.variance
            + (1 - over_1.own_weight) * (1 - over_1.own_weight) * coalesce(
                over_2.own_weight * over_2.variance
                + (1 - over_2.own_weight) * (1 - over_2.own_weight) * coalesce(
                    over_3.own_weight * over_3.variance
                    + (1 - over_3.own_weight) * (1 - over_3.own_weight) * coalesce(over_4.variance, 0), 0
                ), 0
            ), 0
        ) as pooled_variance
    from weighed
    left join weighed as over_1
        on over_1.market = weighed.market and over_1.currency = weighed.currency
        and over_1.subject = weighed.subject and over_1.value = weighed.value and over_1.place = weighed.above
    left join weighed as over_2
        on over_2.market = weighed.market and over_2.currency = weighed.currency
        and over_2.subject = weighed.subject and over_2.value = weighed.value and over_2.place = over_1.above
    left join weighed as over_3
        on over_3.market = weighed.market and over_3.currency = weighed.currency
        and over_3.subject = weighed.subject and over_3.value = weighed.value and over_3.place = over_2.above
    left join weighed as over_4
        on over_4.market = weighed.market and over_4.currency = weighed.currency
        and over_4.subject = weighed.subject and over_4.value = weighed.value and over_4.place = over_3.above
),
generation_names as (
    select generation_id, max(trim(generation_name)) as generation_name from vehicles group by generation_id
),
final as (
    select
        pooled.market,
        pooled.currency,
        pooled.subject,
        pooled.value,
        pooled.level,
        pooled.domain_id,
        source_names.domain_name,
        nullif(pooled.manufacturer_id, -1) as manufacturer_id,
        manufacturer_names.manufacturer_name,
        nullif(pooled.model_id, -1) as model_id,
        model_names.model_name,
        nullif(pooled.generation_id, -1) as generation_id,
        generation_names.generation_name,
        pooled.place,
        pooled.prices,
        case when pooled.prices >= settings.minimum_group then exp(pooled.log_effect) end as own_effect,
        pooled.own_weight,
        pooled.prices < settings.minimum_group as is_pooled,
        exp(pooled.log_pooled) as effect,
        exp(pooled.log_pooled - 1.96 * sqrt(pooled.pooled_variance)) as effect_low,
        exp(pooled.log_pooled + 1.96 * sqrt(pooled.pooled_variance)) as effect_high
    from pooled
    cross join dim_settings as settings
    left join dim_sources as source_names on source_names.domain_id = pooled.domain_id
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = pooled.manufacturer_id
    left join dim_models as model_names on model_names.model_id = pooled.model_id
    left join generation_names on generation_names.generation_id = pooled.generation_id
)
select * from final
