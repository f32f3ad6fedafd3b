-- The groups of damages or titles that have auction prices, and whether the feed means one of them by a name.
select
    level,
    level in (
        select damage_group from dim_damages where $factor = 'damage_main_group' and lower(damage_name) = $name
        union all
        select title_brand from dim_titles where $factor = 'title_brand' and lower(title_name) = $name
    ) as is_meant
from price_factors
where market = 'auction' and currency = $currency and factor = $factor
