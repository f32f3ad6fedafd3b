with sold_lots as (
    -- a lot is sold once: an attempt with a later attempt is no sale
    select lot_id, price from sales where outcome = 'sold'
),
lot_facts as (
    select
        damage_main,
        damage_second,
        -- a null would be taken for a level above
        coalesce(lot_groups.domain_id, -1) as domain_id,
        coalesce(manufacturer_id, -1) as manufacturer_id,
        coalesce(model_id, -1) as model_id,
        currency,
        sold_lots.lot_id is not null as is_sold,
        price,
        case when is_sound then price end as sound_price,
        readings.odometer_km,
        -- the bounds of a price also apply to estimates
        case
            when estimate_repair_price between 0 and 5000000
            then estimate_repair_price / plausible_price(pre_accident_price)
        end as repair_share
    from lot_groups
    inner join lots on lots.lot_id = lot_groups.lot_id
    left join vehicle_facts on vehicle_facts.vehicle_id = lot_groups.vehicle_id
    left join odometer_readings as readings on readings.lot_id = lot_groups.lot_id
    left join sold_lots on sold_lots.lot_id = lot_groups.lot_id
),
damages as (
    -- the damages of each group, and a row of all its lots without a damage
    select
        damage_main,
        damage_second,
        domain_id,
        manufacturer_id,
        model_id,
        currency,
        count(*) as lots,
        count(*) filter (where is_sold) as sold,
        count(price) as priced_lots,
        median(price) as price_median,
        count(sound_price) as sound_lots,
        median(sound_price) as sound_median,
        count(odometer_km) as odometer_lots,
        median(odometer_km) as odometer_km_median,
        count(repair_share) as repair_lots,
        median(repair_share) as repair_share
    from lot_facts
    group by grouping sets (
        (currency, damage_main, damage_second),
        (currency, domain_id, damage_main, damage_second),
        (currency, domain_id, manufacturer_id, damage_main, damage_second),
        (currency, domain_id, manufacturer_id, model_id, damage_main, damage_second),
        (currency),
        (currency, domain_id),
        (currency, domain_id, manufacturer_id),
        (currency, domain_id, manufacturer_id, model_id)
    )
),
main_currency as (
    select max_by(currency, prices) as market_currency from price_factors where market = 'auction' and factor = 'base'
),
placed as (
    select
        *,
        -- a ratio needs no currency: a damage does to prices of an unknown one what it does in the market
        coalesce(currency, market_currency) as ratio_currency,
        case
            when domain_id is null then 0
            when manufacturer_id is null then 1
            when model_id is null then 2
            else 3
        end as depth,
        coalesce('/' || domain_id, '') || coalesce('/' || manufacturer_id, '') || coalesce('/' || model_id, '') as place
    from damages
    cross join main_currency
),
of_groups as (
    select
        placed.*,
        main_damages.damage_group as damage_main_group,
        second_damages.damage_group as damage_second_group,
        max(case when damage_main is null then lots end) over of_group as group_lots,
        max(case when damage_main is null and enough(sound_lots) then sound_median end) over of_group as group_sound_median,
        -- an amount without a known currency counts as a lot, but enters no statistic
        case when currency is not null and enough(priced_lots) then price_median end as known_median
    from placed
    left join dim_damages as main_damages on main_damages.damage_name = damage_main
    left join dim_damages as second_damages on second_damages.damage_name = damage_second
    window of_group as (partition by depth, domain_id, manufacturer_id, model_id, currency)
),
depths as (
    select *
    from (
        values (0, 'all', 'all'), (1, 'source', 'source'), (2, 'make', 'manufacturer'), (3, 'model', 'model')
    ) as named (depth, level, level_of_effects)
),
references_of as (
    -- what the effects of a damage compare with; it must be sound
    select
        currency,
        bool_or(
            factor = 'damage_main_group' and reference in ('none', 'normal_wear', 'minor_dents')
        ) as is_main_sound,
        bool_or(
            factor = 'damage_second_group' and reference in ('none', 'normal_wear', 'minor_dents', 'unknown')
        ) as is_second_sound
    from price_factors
    where market = 'auction'
    group by currency
),
effects as (
    -- what a kind of main damage does to the prices of a group, as a logarithm; 95 % are 3.92 standard deviations wide
    select
        currency,
        place,
        value as damage_main_group,
        own_weight,
        ln(effect) as log_effect,
        ln(effect_high / effect_low) * ln(effect_high / effect_low) / (3.92 * 3.92) as variance
    from price_levels
    inner join references_of using (currency)
    where market = 'auction' and subject = 'damage_main_group' and is_main_sound
),
spreads as (
    -- how far the groups of a level lie from all prices
    select
        currency,
        depth,
        sum(max(level_deviation * level_deviation)) over (partition by currency order by depth nulls last) as spread
    from price_levels
    inner join depths on level_of_effects = price_levels.level
    where market = 'auction' and subject = 'damage_main_group'
    group by currency, depth
),
second_effects as (
    select
        currency,
        level as damage_second_group,
        ln(effect) as log_effect,
        ln(effect_high / effect_low) * ln(effect_high / effect_low) / (3.92 * 3.92) as variance
    from price_factors
    inner join references_of using (currency)
    where market = 'auction' and factor = 'damage_second_group' and effect > 0 and is_second_sound
),
kinds as (
    -- a source without auctions has no price to compare
    select distinct ratio_currency as currency, depth, place, domain_id, manufacturer_id, model_id, damage_main_group
    from of_groups
    where damage_main is not null and (domain_id is null or is_auction(domain_id))
),
lines as (
    -- a group with itself and those above it
    select
        kinds.currency,
        kinds.place as of_place,
        kinds.depth as of_depth,
        damage_main_group,
        depths.depth,
        case depths.depth
            when 0 then ''
            when 1 then '/' || domain_id
            when 2 then '/' || domain_id || '/' || manufacturer_id
            else kinds.place
        end as place
    from kinds
    inner join depths on depths.depth <= kinds.depth
),
nearest as (
    -- the nearest level that has prices of the damage speaks for those below it
    select
        currency,
        of_place as place,
        of_depth as depth,
        damage_main_group,
        max(depth) as ratio_depth,
        max_by(own_weight, depth) as own_weight,
        max_by(log_effect, depth) as log_ratio,
        max_by(variance, depth) as variance
    from lines
    inner join effects using (currency, place, damage_main_group)
    group by currency, of_place, of_depth, damage_main_group
),
pooled as (
    -- what a group has beside the level that speaks for it is unknown, but no wider than such groups lie apart
    select
        nearest.*,
        depths.level as ratio_level,
        variance + of_group.spread - of_ratio.spread as ratio_variance
    from nearest
    inner join spreads as of_group on of_group.currency = nearest.currency and of_group.depth = nearest.depth
    inner join spreads as of_ratio on of_ratio.currency = nearest.currency and of_ratio.depth = ratio_depth
    inner join depths on depths.depth = ratio_depth
),
compared as (
    select
        of_groups.*,
        depths.level,
        ratio_level,
        own_weight,
        log_ratio + second_effects.log_effect as log_ratio,
        1.96 * sqrt(ratio_variance + second_effects.variance) as half
    from of_groups
    inner join depths on depths.depth = of_groups.depth
    left join pooled
        on pooled.currency = ratio_currency
        and pooled.place = of_groups.place
        and pooled.damage_main_group = of_groups.damage_main_group
    left join second_effects
        on second_effects.currency = ratio_currency
        and second_effects.damage_second_group = of_groups.damage_second_group
    where damage_main is not null
)
select
    level,
    damage_main,
    damage_main_group,
    damage_second,
    damage_second_group,
    nullif(compared.domain_id, -1) as domain_id,
    domain_name,
    nullif(compared.manufacturer_id, -1) as manufacturer_id,
    manufacturer_name,
    nullif(compared.model_id, -1) as model_id,
    model_name,
    lots,
    lots / group_lots as share,
    sold,
    priced_lots,
    currency,
    money(known_median) as price_median,
    known_median / group_sound_median as price_ratio_to_sound,
    exp(log_ratio) as price_ratio_alike,
    exp(log_ratio - half) as price_ratio_alike_low,
    exp(log_ratio + half) as price_ratio_alike_high,
    case when log_ratio is not null then ratio_level end as ratio_level,
    case
        when log_ratio is null then null
        when ratio_level = level then own_weight
        else 0
    end as ratio_own_weight,
    odometer_lots,
    case when enough(odometer_lots) then odometer_km_median end as odometer_km_median,
    repair_lots,
    case when currency is not null and enough(repair_lots) then repair_share end as repair_share
from compared
left join dim_sources on dim_sources.domain_id = compared.domain_id
left join dim_manufacturers on dim_manufacturers.manufacturer_id = compared.manufacturer_id
left join dim_models on dim_models.model_id = compared.model_id
