-- description: The cities of a state in regional_prices have as many lots, sales and prices as the state.
-- severity: error
with signed as (
    select *, case level when 'state' then 1 else -1 end as sign from regional_prices
)
select
    country_iso,
    state_code,
    sum(lots * sign) as lots,
    sum(lots_sold * sign) as sold,
    sum(priced_lots * sign) as priced,
    sum(compared_lots * sign) as compared
from signed
group by country_iso, state_code
having
    sum(lots * sign) <> 0
    or sum(lots_sold * sign) <> 0
    or sum(priced_lots * sign) <> 0
    or sum(compared_lots * sign) <> 0
