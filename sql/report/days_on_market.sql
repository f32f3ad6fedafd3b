-- How many days pass until lots are sold, at the levels source, title and estimate; the classes of estimates by their lower
-- bound. The interval is that of the median, whose upper end is null if it is not known yet.
select
    *,
    coalesce(title_brand, estimate_band) as kind,
    days_p25 as low,
    days_median as middle,
    days_p75 as high,
    days_median_low as interval_low,
    days_median_high as interval_high,
    sold as based_on,
    case when days_p25 is null then 'not a quarter is sold' end as unsold
from days_on_market
where level in ('source', 'title', 'estimate') and lots > 0
order by
    level,
    try_cast(replace(split_part(estimate_band, ' ', 1), ',', '') as integer) nulls first,
    sum(lots) over (partition by level, title_brand) desc, title_brand, estimate_band, domain_id
