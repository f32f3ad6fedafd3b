-- The runs of the table, newest first, in the form of their records. An older lotlake had runs that published alone.
select
    run_id,
    pipeline,
    coalesce(outcome, 'published') as outcome,
    case when error_code is not null then {'code': error_code, 'message': error} end as error,
    coalesce(records, 0) as records,
    coalesce(loaded, 0) as loaded,
    coalesce(rejected, 0) as rejected,
    rejected_values,
    strftime(started_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') as started_at,
    strftime(ended_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') as ended_at,
    counts,
    coalesce(warnings, []) as warnings
from (
    from runs
    union all by name
    select
        cast(null as varchar) as outcome,
        cast(null as varchar) as error_code,
        cast(null as varchar) as error,
        cast(null as bigint) as rejected_values,
        cast(null as varchar[]) as warnings
    where false
) as stored
order by stored.started_at desc, run_id desc
