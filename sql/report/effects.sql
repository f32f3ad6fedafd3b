-- What each main damage and title does to an auction price, all else alike, in the currency of most auction prices; best
-- first. The reference has no interval.
select
    f.factor as level, f.level as kind, f.effect as middle, f.prices as based_on,
    case when f.effect_low < f.effect_high then f.effect_low end as interval_low,
    case when f.effect_low < f.effect_high then f.effect_high end as interval_high
from price_factors as f
where f.market = 'auction' and f.factor in ('damage_main_group', 'title_brand')
    and f.prices >= (select minimum_group from dim_settings)
    and f.currency = (
        select currency from price_factors where market = 'auction' and factor = 'base' order by prices desc, currency limit 1
    )
order by f.factor, f.effect desc, f.level
