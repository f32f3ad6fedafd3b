-- description: Each source platform has as many sold, open and left lots in time_to_sale as in sales and lots.
-- severity: error
with sold as (
    select lot_id from sales where outcome = 'sold'
),
expected as (
    select
        lots.domain_id,
        count(sold.lot_id) as lots_sold,
        count(case when sold.lot_id is null and not coalesce(lots.archived, false) then 1 end) as open_lots,
        count(case when lots.archived then 1 end) as left_lots
    from lots
    left join sold on sold.lot_id = lots.lot_id
    group by lots.domain_id
),
actual as (
    select
        domain_id,
        sum(lots_sold) as lots_sold,
        sum(open_lots) as open_lots,
        sum(left_lots) as left_lots
    from time_to_sale
    group by domain_id
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.lots_sold, 0) as expected_sold,
        coalesce(actual.lots_sold, 0) as actual_sold,
        coalesce(expected.open_lots, 0) as expected_open,
        coalesce(actual.open_lots, 0) as actual_open,
        coalesce(expected.left_lots, 0) as expected_left,
        coalesce(actual.left_lots, 0) as actual_left
    from expected
    full join actual on actual.domain_id is not distinct from expected.domain_id
)
select * from final
where expected_sold <> actual_sold or expected_open <> actual_open or expected_left <> actual_left
