-- The states of auction prices and offers, those with the most prices first. A level is a country and a code.
select level, substring(level, strpos(level, ' ') + 1) as code
from price_factors
where market = 'auction' and currency = $currency and factor = 'state' and not ends_with(level, ' unknown')
order by prices desc, level
