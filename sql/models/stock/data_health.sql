with source_runs as (
    select
        run_id,
        pipeline,
        started_at,
        -- runs of an older lotlake have no value
        coalesce(reject_alarm, 0.01) as reject_alarm,
        greatest(second_of(ended_at) - second_of(started_at), 0) / 60 as minutes,
        -- as JSON, because the text "," between two entries cannot occur inside an entry
        cast(to_json(warnings) as string) as warnings,
        cast(to_json(held) as string) as held,
        cast(to_json(failing) as string) as failing
    from runs
    -- others are in the table too; an older lotlake recorded no outcome
    where coalesce(outcome, 'published') = 'published'
),
last_run as (
    select run_id from source_runs order by started_at desc nulls last, run_id desc nulls last limit 1
),
source_rejected_values as (
    select run_id, stream, table_name, column_name, count(*) as rejected_values
    from rejects
    where table_name is not null
    group by all
),
rejected_values as (
    -- once a column had rejected values, every run has a row for it, possibly 0
    select
        run_id,
        table_name,
        column_name,
        sum(case when rejected is not null then coalesce(source_rejected_values.rejected_values, 0) end) as rejected
    from stream_figures
    inner join (select distinct stream, table_name, column_name from source_rejected_values) as columns using (stream)
    left join source_rejected_values using (run_id, stream, table_name, column_name)
    group by run_id, table_name, column_name
),
metrics as (
    select run_id, 'run' as subject, 'minutes' as metric, minutes as value, 'minutes' as unit from source_runs
    union all
    select run_id, 'run', 'warnings', case when length(warnings) > 2 then 1 + (length(warnings) - length(replace(warnings, '","', ''))) / 3 else 0 end, 'warnings'
    from source_runs
    union all
    select run_id, 'run', 'guard_held', case when length(held) > 2 then 1 + (length(held) - length(replace(held, '","', ''))) / 3 else 0 end, 'runs'
    from source_runs
    union all
    select run_id, 'run', 'failing_runs', case when length(failing) > 2 then 1 + (length(failing) - length(replace(failing, '","', ''))) / 3 else 0 end, 'runs'
    from source_runs
    union all
    select run_id, stream, 'age_hours', greatest(seconds, 0) / 3600, 'hours' from stream_figures where seconds is not null
    union all
    select run_id, stream, 'records', records, 'records' from stream_figures
    union all
    select run_id, stream, 'rejected', rejected, 'records' from stream_figures
    union all
    select run_id, stream, 'unserved_records', coalesce(unserved, 0), 'records'
    from stream_figures
    where rejected is not null and stream in (select stream from stream_figures where unserved > 0)
    union all
    select run_id, stream, 'oversized_records', coalesce(oversized, 0), 'records'
    from stream_figures
    where rejected is not null and stream in (select stream from stream_figures where oversized > 0)
    union all
    select run_id, stream, 'reject_share', rejected / records, 'share, 0 to 1' from stream_figures where records > 0
    union all
    select run_id, stream, 'rejected_value_share', lacking_a_value / records, 'share, 0 to 1'
    from stream_figures
    where records > 0
    union all
    select run_id, table_name || '.' || column_name, 'rejected_values', rejected, 'values'
    from rejected_values
    union all
    select run_id, stream, 'drifted_members', drifted_members, 'members' from stream_figures
    union all
    select run_id, stream, 'incomplete_passes', incomplete_passes, 'passes' from stream_figures
    union all
    select run_id, subject, metric, value, unit
    from column_figures
    cross join last_run
    union all
    select run_id, subject, metric, share, 'share, 0 to 1'
    from source_shares
    cross join last_run
),
ranked as (
    select
        run_id,
        started_at,
        pipeline,
        subject,
        metric,
        cast(value as double) as value,
        unit,
        case
            when metric = 'age_hours' then subject = 'cars' and value > 36
            when metric in ('reject_share', 'rejected_value_share') then value > reject_alarm
            when metric = 'null_share' then value > 0.98
            when metric in (
                'no_result_share', 'no_amount_share', 'outlier_share', 'doubted_year_share', 'year_from_vin_share'
            ) then coalesce(is_high, false)
            else
                metric in ('failing_runs', 'incomplete_passes', 'unserved_records', 'oversized_records') and value > 0
        end as is_alarm,
        -- figures of the whole lake are replaced by the next run of any pipeline
        row_number() over (
            partition by
                subject,
                metric,
                case
                    when metric in (
                        'age_hours', 'null_share', 'placeholder_dates', 'failing_runs',
                        'no_result_share', 'no_amount_share', 'outlier_share', 'doubted_year_share', 'year_from_vin_share'
                    ) then ''
                    else pipeline
                end
            order by started_at desc nulls last, run_id desc nulls last
        ) = 1 as is_current
    from metrics
    inner join source_runs using (run_id)
    left join source_shares using (subject, metric)
)
select * from ranked where value is not null
