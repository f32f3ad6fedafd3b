with factors as (
    select
        row_number() over (
            order by market nulls last, currency nulls last, factor nulls last, level nulls last
        ) as number,
        market,
        currency,
        factor as subject,
        level as value,
        usual_km_a_year,
        ln(effect) as shared_effect,
        -- its interval of 95 % is 3.92 standard deviations wide
        ln(effect_high / effect_low) / 3.92 as shared_deviation
    from price_factors
    where effect > 0
),
points as (
    select
        market,
        currency,
        value as mileage,
        usual_km_a_year,
        cast(value as double) as km,
        shared_effect as effect,
        lead(cast(value as double)) over by_km as next_km,
        lead(shared_effect) over by_km as next_effect
    from factors
    where subject = 'mileage'
    window by_km as (partition by market, currency order by cast(value as double) nulls last)
),
usual_distances as (
    select market, currency, max(usual_km_a_year) as km_a_year from points group by market, currency
),
judged as (
    select
        inputs.*,
        ln(inputs.price / estimate) as log_left,
        -- 1 / variance
        1 / (log_deviation * log_deviation) as weight,
        odometer_km - km_a_year * age_years as km_beyond_usual
    from price_inputs as inputs
    inner join price_estimates as estimates on estimates.lot_id = inputs.lot_id
    left join usual_distances on usual_distances.market = inputs.market and usual_distances.currency = inputs.currency
    where inputs.price is not null and estimate > 0 and log_deviation > 0 and not is_left_out
),
priced as (
    -- what a price leaves beside the estimate that does not know it, as a logarithm
    select
        judged.market,
        judged.currency,
        coalesce(domain_id, -1) as domain_id,
        coalesce(manufacturer_id, -1) as manufacturer_id,
        coalesce(model_id, -1) as model_id,
        coalesce(generation_id, -1) as generation_id,
        damage_main_group,
        title_brand,
        sold_by,
        left(cast(priced_month as string), 7) as month,
        -- the effect of mileage is a line between points; a price counts for the point below it
        mileage,
        log_left,
        (next_effect - effect) * (km_beyond_usual - km) / (next_km - km) as log_from_point,
        weight
    from judged
    left join points
        on points.market = judged.market
        and points.currency = judged.currency
        and km_beyond_usual >= km
        and km_beyond_usual < next_km
),
sums as (
    -- prices of a generation with one value of one subject; the columns of the other subjects are null
    select
        market,
        currency,
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        damage_main_group,
        title_brand,
        sold_by,
        month,
        mileage,
        count(*) as prices,
        sum(weight) as weight,
        sum(weight * log_left) as weighed_left,
        sum(weight * log_from_point) as weighed_from_point
    from priced
    group by grouping sets (
        (market, currency, domain_id, manufacturer_id, model_id, generation_id, damage_main_group),
        (market, currency, domain_id, manufacturer_id, model_id, generation_id, title_brand),
        (market, currency, domain_id, manufacturer_id, model_id, generation_id, sold_by),
        (market, currency, domain_id, manufacturer_id, model_id, generation_id, month),
        (market, currency, domain_id, manufacturer_id, model_id, generation_id, mileage)
    )
),
of_subjects as (
    select
        *,
        case
            when damage_main_group is not null then 'damage_main_group'
            when title_brand is not null then 'title_brand'
            when sold_by is not null then 'sold_by'
            when month is not null then 'month'
            when mileage is not null then 'mileage'
        end as subject,
        coalesce(damage_main_group, title_brand, sold_by, month, mileage) as value
    from sums
),
grouped as (
    select
        number,
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        cast(sum(prices) as bigint) as prices,
        sum(weight) as weight,
        sum(weighed_left + case when mileage is null then 0 else weighed_from_point end) / sum(weight) as log_left
    from of_subjects
    inner join factors using (market, currency, subject, value)
    group by grouping sets (
        (number),
        (number, domain_id),
        (number, domain_id, manufacturer_id),
        (number, domain_id, manufacturer_id, model_id),
        (number, domain_id, manufacturer_id, model_id, generation_id)
    )
),
placed as (
    select
        *,
        case
            when domain_id is null then 'all'
            when manufacturer_id is null then 'source'
            when model_id is null then 'manufacturer'
            when generation_id is null then 'model'
            else 'generation'
        end as level,
        coalesce('/' || domain_id, '') || coalesce('/' || manufacturer_id, '') || coalesce('/' || model_id, '')
            || coalesce('/' || generation_id, '') as place,
        -- prices of the value itself show the effect of the level all as price_factors has it; what they leave would count twice
        shared_effect + case when domain_id is null then 0 else log_left end as log_effect
    from grouped
    inner join factors using (number)
),
compared as (
    -- a group beside all groups of its level that have the same group above them
    select
        *,
        sum(weight) over beside as weight_above,
        sum(weight * log_left) over beside / sum(weight) over beside as log_left_above
    from placed
    window beside as (
        partition by
            number,
            level,
            case when level <> 'source' then domain_id end,
            case when level in ('model', 'generation') then manufacturer_id end,
            case when level = 'generation' then model_id end
    )
),
spreads as (
    -- how far groups lie from the level above beyond the noise of their means, as the analysis of variance has it
    select
        market,
        currency,
        subject,
        level,
        greatest(
            sum(weight * (log_left - log_left_above) * (log_left - log_left_above) - (1 - weight / weight_above))
            / nullif(sum(weight * (1 - weight / weight_above)), 0),
            0
        ) as spread
    from compared
    group by market, currency, subject, level
),
weighed as (
    -- how much of a group's own mean counts: all of the level all
    select
        placed.*,
        coalesce(spread, 0) as spread,
        case
            when level = 'all' then 1
            when coalesce(spread, 0) = 0 then 0
            else spread / (spread + 1 / weight)
        end as own_weight
    from placed
    inner join spreads using (market, currency, subject, level)
),
sources as (
    select
        *,
        own_weight * log_effect + (1 - own_weight) * shared_effect as log_pooled,
        own_weight / weight as variance
    from weighed
    where level = 'source'
),
manufacturers as (
    select
        weighed.*,
        weighed.own_weight * weighed.log_effect + (1 - weighed.own_weight) * above.log_pooled as log_pooled,
        weighed.own_weight / weighed.weight
        + (1 - weighed.own_weight) * (1 - weighed.own_weight) * above.variance as variance
    from weighed
    inner join sources as above
        on above.number = weighed.number
        and above.domain_id = weighed.domain_id
    where weighed.level = 'manufacturer'
),
models as (
    select
        weighed.*,
        weighed.own_weight * weighed.log_effect + (1 - weighed.own_weight) * above.log_pooled as log_pooled,
        weighed.own_weight / weighed.weight
        + (1 - weighed.own_weight) * (1 - weighed.own_weight) * above.variance as variance
    from weighed
    inner join manufacturers as above
        on above.number = weighed.number
        and above.domain_id = weighed.domain_id
        and above.manufacturer_id = weighed.manufacturer_id
    where weighed.level = 'model'
),
generations as (
    select
        weighed.*,
        weighed.own_weight * weighed.log_effect + (1 - weighed.own_weight) * above.log_pooled as log_pooled,
        weighed.own_weight / weighed.weight
        + (1 - weighed.own_weight) * (1 - weighed.own_weight) * above.variance as variance
    from weighed
    inner join models as above
        on above.number = weighed.number
        and above.domain_id = weighed.domain_id
        and above.manufacturer_id = weighed.manufacturer_id
        and above.model_id = weighed.model_id
    where weighed.level = 'generation'
),
pooled as (
    select *, log_effect as log_pooled, 0 as variance from weighed where level = 'all'
    union all
    select * from sources
    union all
    select * from manufacturers
    union all
    select * from models
    union all
    select * from generations
),
of_prices as (
    -- all levels share the error of the effect, and so that of the reference
    select *, 1.96 * sqrt(shared_deviation * shared_deviation + variance) as half from pooled
),
generation_names as (
    select generation_id, max(trim(generation_name)) as generation_name from vehicles group by generation_id
)
select
    market,
    currency,
    subject,
    value,
    level,
    domain_id,
    domain_name,
    nullif(manufacturer_id, -1) as manufacturer_id,
    manufacturer_name,
    nullif(model_id, -1) as model_id,
    model_name,
    nullif(generation_id, -1) as generation_id,
    generation_name,
    place,
    prices,
    case when enough(prices) then exp(log_effect) end as own_effect,
    own_weight,
    sqrt(spread) as level_deviation,
    not enough(prices) as is_pooled,
    exp(log_pooled) as effect,
    exp(log_pooled - half) as effect_low,
    exp(log_pooled + half) as effect_high
from of_prices
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
left join generation_names using (generation_id)
