-- What lots bring in a state, against the nation.
with place as (
    select * from regional_prices where level = 'state' and lower(state_code) = lower($name) order by priced_lots desc limit 1
)
select 'Median price' as figure, 'money' as unit, price_median as value, null as low, null as high, priced_lots as based_on, currency
from place
union all
select 'Price against the nation, same model and year (quartiles)', 'ratio', price_ratio_median, price_ratio_p25, price_ratio_p75, compared_lots, null from place
union all
select 'Lots known', 'count', sum(lots), null, null, sum(lots), null
from regional_prices
where level = 'state' and lower(state_code) = lower($name)
having count(*) > 0
