-- description: Each month of a source platform has as many attempts and sales in sell_through as in price_trends.
-- severity: error
with expected as (
    select
        month,
        domain_id,
        sum(lots_offered) as offered,
        sum(lots_unresolved) as unresolved,
        sum(lots_sold) as sold
    from price_trends
    group by month, domain_id
),
final as (
    select
        coalesce(expected.month, sell_through.month) as month,
        coalesce(expected.domain_id, sell_through.domain_id) as domain_id,
        coalesce(expected.offered, 0) as expected_offered,
        coalesce(sell_through.lots_offered, 0) as actual_offered,
        coalesce(expected.unresolved, 0) as expected_unresolved,
        coalesce(sell_through.lots_unresolved, 0) as actual_unresolved,
        coalesce(expected.sold, 0) as expected_sold,
        coalesce(sell_through.lots_sold, 0) as actual_sold
    from expected
    full join sell_through on sell_through.month = expected.month and sell_through.domain_id = expected.domain_id
)
select * from final
where expected_offered <> actual_offered
    or expected_unresolved <> actual_unresolved
    or expected_sold <> actual_sold
