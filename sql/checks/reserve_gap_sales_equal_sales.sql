-- description: The sold lots of reserve_gap are the lots with a reserve and an observed, trusted sale.
-- severity: error
with expected as (
    select
        sales.domain_id,
        count(*) as lots,
        count(case when sales.price >= lots.seller_reserve_price then 1 end) as met_lots
    from sales
    inner join lots on lots.lot_id = sales.lot_id
    where sales.price is not null and sales.is_observed and lots.seller_reserve_price between 1 and 5000000
    group by sales.domain_id
),
actual as (
    select domain_id, sum(lots) as lots, sum(met_lots) as met_lots
    from reserve_gap
    where outcome = 'sold'
    group by domain_id
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.lots, 0) as expected_lots,
        coalesce(actual.lots, 0) as actual_lots,
        coalesce(expected.met_lots, 0) as expected_met_lots,
        coalesce(actual.met_lots, 0) as actual_met_lots
    from expected
    full join actual on actual.domain_id = expected.domain_id
)
select * from final
where expected_lots <> actual_lots or expected_met_lots <> actual_met_lots
