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
        deviation_95(effect_low, effect_high) as shared_deviation
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
        generation_place as place,
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
    inner join lot_generations on lot_generations.lot_id = judged.lot_id
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
        place,
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
        (market, currency, place, damage_main_group),
        (market, currency, place, title_brand),
        (market, currency, place, sold_by),
        (market, currency, place, month),
        (market, currency, place, mileage)
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
)
select
    number,
    factors.market,
    factors.currency,
    factors.subject,
    factors.value,
    shared_effect,
    shared_deviation,
    above_place as place,
    above_depth as depth,
    cast(sum(prices) as bigint) as prices,
    sum(weight) as weight,
    sum(weighed_left + case when mileage is null then 0 else weighed_from_point end) / sum(weight) as log_left
from of_subjects
inner join factors using (market, currency, subject, value)
inner join groups_above using (place)
group by
    number,
    factors.market,
    factors.currency,
    factors.subject,
    factors.value,
    shared_effect,
    shared_deviation,
    above_place,
    above_depth
