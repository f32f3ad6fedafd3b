-- description: Each source platform has as many first and later attempts and sales in relisting as in sell_through.
-- severity: error
with expected as (
    select
        domain_id,
        sum(first_offered) as first_offered,
        sum(first_sold) as first_sold,
        sum(later_offered) as later_offered,
        sum(later_sold) as later_sold
    from sell_through
    group by domain_id
),
actual as (
    select
        domain_id,
        sum(case when attempt = 1 then lots_reached else 0 end) as first_offered,
        sum(case when attempt = 1 then lots_sold else 0 end) as first_sold,
        sum(case when attempt > 1 then lots_reached else 0 end) as later_offered,
        sum(case when attempt > 1 then lots_sold else 0 end) as later_sold
    from relisting
    group by domain_id
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.first_offered, 0) as expected_first_offered,
        coalesce(actual.first_offered, 0) as actual_first_offered,
        coalesce(expected.first_sold, 0) as expected_first_sold,
        coalesce(actual.first_sold, 0) as actual_first_sold,
        coalesce(expected.later_offered, 0) as expected_later_offered,
        coalesce(actual.later_offered, 0) as actual_later_offered,
        coalesce(expected.later_sold, 0) as expected_later_sold,
        coalesce(actual.later_sold, 0) as actual_later_sold
    from expected
    full join actual on actual.domain_id = expected.domain_id
)
select * from final
where expected_first_offered <> actual_first_offered
    or expected_first_sold <> actual_first_sold
    or expected_later_offered <> actual_later_offered
    or expected_later_sold <> actual_later_sold
