-- description: The cities of a state in regional_prices have as many lots, sales and prices as the state.
-- severity: error
select
    country_iso,
    state_code,
    sum(case when level = 'state' then lots else -lots end) as lots,
    sum(case when level = 'state' then lots_sold else -lots_sold end) as sold,
    sum(case when level = 'state' then priced_lots else -priced_lots end) as priced,
    sum(case when level = 'state' then compared_lots else -compared_lots end) as compared
from regional_prices
group by country_iso, state_code
having
    sum(case when level = 'state' then lots else -lots end) <> 0
    or sum(case when level = 'state' then lots_sold else -lots_sold end) <> 0
    or sum(case when level = 'state' then priced_lots else -priced_lots end) <> 0
    or sum(case when level = 'state' then compared_lots else -compared_lots end) <> 0
