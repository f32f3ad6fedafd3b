-- How far the estimates were off for the prices that a car is judged with: those of its make, or all.
select case name when 'all' then 'all prices' else name end as "of", basis, prices, error_median, bias, inside_80
from price_accuracy
where market = $market and currency = $currency and error_median is not null
    and (segment = 'all' or (segment = 'manufacturer' and level = cast($make as varchar)))
order by segment desc
limit 1
