-- The currency of most auction prices, and the time that ages are counted to, in years. No row where there are too few prices.
select currency, (select year(as_of) + (month(as_of) - 0.5) / 12 from dim_settings) as now
from price_factors
where market = 'auction' and factor = 'base'
order by prices desc
limit 1
