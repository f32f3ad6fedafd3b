-- When lots are sold, at the levels source, title and estimate; the classes of estimates by their lower bound. The bar of
-- a row goes from the share that is sold within 60 days to that of those sold or gone.
with within_60_days as (
    select level, domain_id, title_brand, estimate_band, sold as share, sold_low, sold_high, sold_at_most
    from sold_by_day
    where day = 60 and level in ('source', 'title', 'estimate')
)
select
    days_on_market.*,
    coalesce(days_on_market.title_brand, days_on_market.estimate_band) as kind,
    share as low,
    share as middle,
    sold_at_most as high,
    sold_low as interval_low,
    sold_high as interval_high,
    lots as based_on
from days_on_market
left join within_60_days
    on within_60_days.level = days_on_market.level
    and within_60_days.domain_id = days_on_market.domain_id
    and coalesce(within_60_days.title_brand, within_60_days.estimate_band, '')
        = coalesce(days_on_market.title_brand, days_on_market.estimate_band, '')
where days_on_market.level in ('source', 'title', 'estimate') and lots > 0
order by
    days_on_market.level,
    try_cast(replace(split_part(days_on_market.estimate_band, ' ', 1), ',', '') as integer) nulls first,
    sum(lots) over (partition by days_on_market.level, days_on_market.title_brand) desc,
    days_on_market.title_brand, days_on_market.estimate_band, days_on_market.domain_id
