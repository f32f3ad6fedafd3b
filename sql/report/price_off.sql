-- How far the estimates of auction prices were off, by sales since they were shown or by the back-test.
select prices, error_median, inside_80
from price_accuracy
where market = 'auction' and segment = 'all' and error_median is not null
order by prices desc
limit 1
