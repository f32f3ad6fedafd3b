-- description: statistics_compared has every record of statistics once, with the service's own figures.
-- severity: error
with expected as (
    select statistic_id, lot_count, avg_final_bid from statistics
),
final as (
    select
        coalesce(expected.statistic_id, actual.statistic_id) as statistic_id,
        expected.lot_count as expected_lots,
        actual.service_lots as actual_lots,
        expected.avg_final_bid as expected_avg,
        actual.service_avg as actual_avg
    from expected
    full join statistics_compared as actual on actual.statistic_id = expected.statistic_id
    where expected.statistic_id is null or actual.statistic_id is null
        or expected.lot_count is distinct from actual.service_lots
        or expected.avg_final_bid is distinct from actual.service_avg
)
select * from final
