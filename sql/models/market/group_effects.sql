with main_currency as (
    select max_by(currency, prices) as market_currency from price_factors where market = 'auction' and factor = 'base'
),
wanted as (
    -- the months of a group with those before them, and its damages; a source without auctions has no price to compare
    select place, currency, 'month' as subject, sale_month as of_month, cast(null as string) as damage_main_group
    from sales_by_month
    union
    select place, currency, 'month', cast(sale_month - interval '1' month as date), null from sales_by_month
    union
    select place, currency, 'damage_main_group', null, damage_group
    from lots_by_damage
    inner join dim_damages on damage_name = damage_main
    inner join level_groups using (place)
    where domain_id is null or is_auction(domain_id)
),
kinds as (
    select
        place,
        currency,
        -- a ratio needs no currency: what happens to prices of an unknown one is what happens in the market
        coalesce(currency, market_currency) as fit_currency,
        subject,
        coalesce(damage_main_group, left(cast(of_month as string), 7)) as value
    from wanted
    cross join main_currency
),
sound_references as (
    -- what the effects of a damage compare with must be sound
    select currency
    from price_factors
    where
        market = 'auction' and factor = 'damage_main_group' and reference in ('none', 'normal_wear', 'minor_dents')
    group by currency
),
effects as (
    select level_effects.*
    from level_effects
    left join sound_references on sound_references.currency = level_effects.currency
    where market = 'auction'
        and (subject = 'month' or subject = 'damage_main_group' and sound_references.currency is not null)
),
spreads as (
    -- how far the groups of a level lie from all prices
    select
        currency,
        subject,
        depth,
        sum(max(spread)) over (partition by currency, subject order by depth nulls last) as spread
    from level_effects
    where market = 'auction'
    group by currency, subject, depth
),
nearest as (
    -- the nearest level that has prices of the value speaks for those below it; all share the error of the level all
    select
        kinds.place,
        kinds.currency,
        fit_currency,
        kinds.subject,
        kinds.value,
        groups_above.depth,
        max(above_depth) as effect_depth,
        max_by(above_level, above_depth) as effect_level,
        max_by(own_weight, above_depth) as own_weight,
        max_by(log_pooled, above_depth) as log_effect,
        max_by(log_pooled, above_depth) - min_by(log_pooled, above_depth) as log_beside_all,
        max_by(variance, above_depth) as variance,
        greatest(max_by(variance, above_depth) - min_by(variance, above_depth), 0) as variance_beside_all
    from kinds
    inner join groups_above on groups_above.place = kinds.place
    inner join effects
        on effects.currency = fit_currency
        and effects.subject = kinds.subject
        and effects.value = kinds.value
        and effects.place = above_place
    group by kinds.place, kinds.currency, fit_currency, kinds.subject, kinds.value, groups_above.depth
),
pooled as (
    -- what a group has beside the level that speaks for it is unknown, but no wider than such groups lie apart
    select nearest.*, of_group.spread - of_effect.spread as spread
    from nearest
    inner join spreads as of_group
        on of_group.currency = fit_currency and of_group.subject = nearest.subject and of_group.depth = nearest.depth
    inner join spreads as of_effect
        on of_effect.currency = fit_currency and of_effect.subject = nearest.subject and of_effect.depth = effect_depth
)
select
    place,
    currency,
    fit_currency,
    subject,
    value,
    effect_level,
    case when effect_depth = depth then own_weight else 0 end as own_weight,
    log_effect,
    log_beside_all,
    variance + spread as variance,
    variance_beside_all + spread as variance_beside_all
from pooled
