-- description: The records of a run's streams add up to the records of the run.
-- severity: warn
with expected as (
    -- a rebuild reads the passes of earlier runs again
    select run_id, records from runs where pipeline <> 'rebuild' and coalesce(outcome, 'published') = 'published'
),
actual as (
    select run_id, sum(value) as records from data_health where metric = 'records' group by run_id
),
final as (
    select expected.run_id, expected.records as expected_records, coalesce(actual.records, 0) as actual_records
    from expected
    left join actual on actual.run_id = expected.run_id
)
select * from final
where expected_records <> actual_records
