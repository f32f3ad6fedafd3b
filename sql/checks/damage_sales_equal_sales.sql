-- description: Each source platform has as many sales and prices in damage_breakdown as in sales of lots in the lake.
-- severity: error
with expected as (
    select
        domain_id,
        count(case when outcome = 'sold' then 1 end) as sold,
        count(price) as priced
    from sales
    where evidence <> 'archive_only'
    group by domain_id
),
actual as (
    select
        domain_id,
        sum(sold) as sold,
        sum(priced_lots) as priced
    from damage_breakdown
    group by domain_id
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.sold, 0) as expected_sold,
        coalesce(actual.sold, 0) as actual_sold,
        coalesce(expected.priced, 0) as expected_priced,
        coalesce(actual.priced, 0) as actual_priced
    from expected
    full join actual on actual.domain_id = expected.domain_id
)
select * from final
where expected_sold <> actual_sold or expected_priced <> actual_priced
