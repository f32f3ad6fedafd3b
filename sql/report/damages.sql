-- Kinds of main damage by their lots, all models together. The ratio to sound lots is the mean of the ratios of
-- damage_breakdown, weighted by their prices. It is shown if it rests on four times the minimum group.
with damages as (
    select
        damage_main_group,
        sum(lots) as lots,
        sum(sold) as sold,
        coalesce(sum(priced_lots) filter (where price_ratio_to_sound is not null), 0) as based_on,
        -- Rounded, since a sum of fractions depends on the order of its rows.
        round(
            sum(price_ratio_to_sound * priced_lots)
                / sum(priced_lots) filter (where price_ratio_to_sound is not null),
            6
        ) as ratio
    from damage_breakdown
    where level = 'model'
    group by damage_main_group
)
select
    damage_main_group, lots, lots as value, sold, based_on,
    case when based_on >= (select minimum_group * 4 from dim_settings) then ratio end as middle
from damages
order by lots desc, damage_main_group
