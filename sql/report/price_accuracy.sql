-- How far the estimates of auction prices were off, by sales since they were shown or by the back-test. A manufacturer is told
-- if at least 20 prices judge it.
select
    segment, level, prices as based_on, error_median, bias, inside_50, inside_80,
    cast(case when segment = 'source' then level end as bigint) as domain_id,
    error_median as value,
    case basis when 'given' then 'shown before the sale' else 'made again' end as tested_by,
    case segment
        when 'all' then 'all prices'
        when 'source' then replace(name, '_com', '.com')
        when 'price' then name || ' ' || currency
        else replace(name, '_', ' ')
    end as name
from price_accuracy
where market = 'auction' and error_median is not null and (segment <> 'manufacturer' or prices >= 20)
order by
    case segment when 'all' then 1 when 'source' then 2 when 'month' then 3 when 'price' then 4 when 'damage' then 5 else 6 end,
    case when segment = 'month' then level end,
    case when segment = 'price' then try_cast(replace(split_part(level, ' ', 1), ',', '') as integer) end nulls first, prices desc
