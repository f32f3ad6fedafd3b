-- description: Each level of regional_prices holds all auction lots, and all their sales and prices of sales.
-- severity: error
with levels as (
    select 'state' as level
    union all
    select 'city' as level
),
auction_lots as (
    select count(*) as lots from lots where domain_id <> 12
),
sold as (
    select
        count(case when outcome = 'sold' then 1 end) as sold,
        count(price) as priced
    from sales
    where evidence <> 'archive_only'
),
actual as (
    select
        level,
        sum(lots) as lots,
        sum(lots_sold) as sold,
        sum(priced_lots) as priced
    from regional_prices
    group by level
),
final as (
    select
        levels.level,
        auction_lots.lots as expected_lots,
        coalesce(actual.lots, 0) as actual_lots,
        sold.sold as expected_sold,
        coalesce(actual.sold, 0) as actual_sold,
        sold.priced as expected_priced,
        coalesce(actual.priced, 0) as actual_priced
    from levels
    cross join auction_lots
    cross join sold
    left join actual on actual.level = levels.level
)
select * from final
where expected_lots <> actual_lots or expected_sold <> actual_sold or expected_priced <> actual_priced
