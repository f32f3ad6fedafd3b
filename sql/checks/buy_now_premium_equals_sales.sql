-- description: Each level of buy_now_premium holds all Buy Now sales and all other prices of sales, and all Buy Now offers.
-- severity: error
with levels as (
    select 'all' as level
    union all
    select 'model_year' as level
),
sold as (
    select
        count(case when trust_basis = 'buy_now' then 1 end) as buy_now_lots,
        count(case when trust_basis <> 'buy_now' then 1 end) as auction_lots
    from sales
    where is_trusted
),
offers as (
    select count(*) as offered_lots from lots where domain_id <> 12 and buy_now > 0 and buy_now <= 5000000
),
actual as (
    select
        level,
        sum(offered_lots) as offered_lots,
        sum(buy_now_lots) as buy_now_lots,
        sum(auction_lots) as auction_lots
    from buy_now_premium
    group by level
),
final as (
    select
        levels.level,
        offers.offered_lots as expected_offered_lots,
        coalesce(actual.offered_lots, 0) as actual_offered_lots,
        sold.buy_now_lots as expected_buy_now_lots,
        coalesce(actual.buy_now_lots, 0) as actual_buy_now_lots,
        sold.auction_lots as expected_auction_lots,
        coalesce(actual.auction_lots, 0) as actual_auction_lots
    from levels
    cross join sold
    cross join offers
    left join actual on actual.level = levels.level
)
select * from final
where expected_offered_lots <> actual_offered_lots
    or expected_buy_now_lots <> actual_buy_now_lots
    or expected_auction_lots <> actual_auction_lots
