with whole_groups as (
    select place, currency, lots as group_lots, case when enough(sound_lots) then sound_median end as group_sound_median
    from lots_by_damage
    where damage_main is null
),
of_groups as (
    select
        lots_by_damage.*,
        main_damages.damage_group as damage_main_group,
        second_damages.damage_group as damage_second_group,
        group_lots,
        group_sound_median,
        -- an amount without a known currency counts as a lot, but enters no statistic
        case when lots_by_damage.currency is not null and enough(priced_lots) then price_median end as known_median
    from lots_by_damage
    inner join whole_groups
        on whole_groups.place = lots_by_damage.place
        and whole_groups.currency is not distinct from lots_by_damage.currency
    left join dim_damages as main_damages on main_damages.damage_name = damage_main
    left join dim_damages as second_damages on second_damages.damage_name = damage_second
    where damage_main is not null
),
sound_references as (
    -- what the effects of a damage compare with must be sound
    select currency
    from price_factors
    where market = 'auction'
        and factor = 'damage_second_group'
        and reference in ('none', 'normal_wear', 'minor_dents', 'unknown')
    group by currency
),
second_effects as (
    select
        currency,
        level as damage_second_group,
        ln(effect) as log_effect,
        deviation_95(effect_low, effect_high) * deviation_95(effect_low, effect_high) as variance
    from price_factors
    inner join sound_references using (currency)
    where market = 'auction' and factor = 'damage_second_group' and effect > 0
),
compared as (
    select
        of_groups.*,
        effect_level,
        own_weight,
        main_effects.log_effect + second_effects.log_effect as log_ratio,
        margin_95(sqrt(main_effects.variance + second_effects.variance)) as half
    from of_groups
    left join group_effects as main_effects
        on main_effects.place = of_groups.place
        and main_effects.currency is not distinct from of_groups.currency
        and main_effects.subject = 'damage_main_group'
        and main_effects.value = of_groups.damage_main_group
    left join second_effects
        on second_effects.currency = fit_currency
        and second_effects.damage_second_group = of_groups.damage_second_group
)
select
    groups.level,
    damage_main,
    damage_main_group,
    damage_second,
    damage_second_group,
    groups.domain_id,
    groups.domain_name,
    groups.manufacturer_id,
    groups.manufacturer_name,
    groups.model_id,
    groups.model_name,
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
    case when log_ratio is not null then effect_level end as ratio_level,
    case when log_ratio is not null then own_weight end as ratio_own_weight,
    odometer_lots,
    case when enough(odometer_lots) then odometer_km_median end as odometer_km_median,
    repair_lots,
    case when currency is not null and enough(repair_lots) then repair_share end as repair_share
from compared
inner join level_groups as groups on groups.place = compared.place
