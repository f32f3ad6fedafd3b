-- description: Each month of a source platform has as many attempts and sales in sell_through as in price_trends.
-- severity: error
with counted as (
    select domain_id, sale_month, lots_offered, lots_unresolved, lots_sold, 1 as months
    from sell_through
    where level = 'month'
    union all
    select domain_id, sale_month, -sum(lots_offered), -sum(lots_unresolved), -sum(lots_sold), -1
    from price_trends
    group by domain_id, sale_month
)
select
    domain_id,
    sale_month,
    sum(months) as months_more,
    sum(lots_offered) as offered_more,
    sum(lots_unresolved) as unresolved_more,
    sum(lots_sold) as sold_more
from counted
group by domain_id, sale_month
having sum(months) <> 0 or sum(lots_offered) <> 0 or sum(lots_unresolved) <> 0 or sum(lots_sold) <> 0
