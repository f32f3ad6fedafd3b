-- description: Each source platform has as many lots, observed sales and prices in seller_types as in lots and sales, and shares that add to 1 in each currency.
-- severity: error
with sold as (
    select lot_id, price, case when is_observed then 1 end as observed from sales where outcome = 'sold'
),
expected as (
    select
        lots.domain_id,
        count(*) as lots,
        count(sold.observed) as sold,
        count(sold.price) as priced
    from lots
    left join sold on sold.lot_id = lots.lot_id
    group by lots.domain_id
),
actual as (
    select
        domain_id,
        sum(lots) as lots,
        sum(lots_sold) as sold,
        sum(priced_lots) as priced,
        sum(share) as shares,
        count(distinct coalesce(currency, 'unknown')) as currencies
    from seller_types
    group by domain_id
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.lots, 0) as expected_lots,
        coalesce(actual.lots, 0) as actual_lots,
        coalesce(expected.sold, 0) as expected_sold,
        coalesce(actual.sold, 0) as actual_sold,
        coalesce(expected.priced, 0) as expected_priced,
        coalesce(actual.priced, 0) as actual_priced,
        coalesce(actual.shares, 0) as shares,
        coalesce(actual.currencies, 0) as currencies
    from expected
    full join actual on actual.domain_id is not distinct from expected.domain_id
)
select * from final
where expected_lots <> actual_lots
    or expected_sold <> actual_sold
    or expected_priced <> actual_priced
    or abs(shares - currencies) > 0.000001
