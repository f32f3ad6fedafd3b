-- How many days pass until lots are sold, at the levels source and title. The interval is that of the median, whose upper
-- end is null if it is not known yet.
select
    *,
    days_p25 as low,
    days_median as middle,
    days_p75 as high,
    days_median_low as interval_low,
    days_median_high as interval_high,
    sold as based_on,
    case when days_p25 is null then 'not a quarter is sold' end as unsold
from days_on_market
where level in ('source', 'title')
order by level, sum(lots) over (partition by level, title_brand) desc, title_brand, domain_id
