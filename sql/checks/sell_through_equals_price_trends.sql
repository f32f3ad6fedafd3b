-- description: Each month of a source platform has as many attempts and sales in sell_through as in each level of price_trends.
-- severity: error
with levels as (
    select level from (values ('all'), ('source'), ('make'), ('model'), ('generation')) as named (level)
),
counted as (
    select
        levels.level,
        case when levels.level <> 'all' then domain_id end as domain_id,
        sale_month,
        lots_offered,
        lots_unresolved,
        lots_sold
    from sell_through
    cross join levels
    where sell_through.level = 'month'
),
sums as (
    select
        level,
        domain_id,
        sale_month,
        1 as months,
        sum(lots_offered) as lots_offered,
        sum(lots_unresolved) as lots_unresolved,
        sum(lots_sold) as lots_sold
    from counted
    group by all
    union all
    select level, domain_id, sale_month, -1, -sum(lots_offered), -sum(lots_unresolved), -sum(lots_sold)
    from price_trends
    group by all
)
select
    level,
    domain_id,
    sale_month,
    sum(months) as months_more,
    sum(lots_offered) as offered_more,
    sum(lots_unresolved) as unresolved_more,
    sum(lots_sold) as sold_more
from sums
group by level, domain_id, sale_month
having sum(months) <> 0 or sum(lots_offered) <> 0 or sum(lots_unresolved) <> 0 or sum(lots_sold) <> 0
