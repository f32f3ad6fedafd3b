with source_runs as (
    select
        run_id,
        pipeline,
        started_at,
        -- runs of an older lotlake have no value
        coalesce(reject_alarm, 0.01) as reject_alarm,
        coalesce(rejected, 0) + coalesce(rejected_values, 0) as all_rejected,
        cast(cast(started_at as date) - date '1970-01-01' as bigint) * 86400
            + extract(hour from started_at) * 3600
            + extract(minute from started_at) * 60
            + cast(extract(second from started_at) as bigint) as started_second,
        cast(cast(ended_at as date) - date '1970-01-01' as bigint) * 86400
            + extract(hour from ended_at) * 3600
            + extract(minute from ended_at) * 60
            + cast(extract(second from ended_at) as bigint) as ended_second,
        -- as JSON, because the text "," between two entries cannot occur inside an entry
        cast(to_json(warnings) as string) as warnings,
        cast(to_json(held) as string) as held,
        cast(to_json(failing) as string) as failing
    from runs
    -- others are in the table too; an older lotlake recorded no outcome
    where coalesce(outcome, 'published') = 'published'
),
source_passes as (
    select
        run_id,
        stream,
        kind,
        complete,
        reason,
        records,
        drift,
        started_at,
        cast(cast(started_at as date) - date '1970-01-01' as bigint) * 86400
            + extract(hour from started_at) * 3600
            + extract(minute from started_at) * 60
            + cast(extract(second from started_at) as bigint) as started_second
    from passes
    where state = 'sealed'
),
runs_with_rejects as (
    -- Rejects disappear with their pass. If a run had rejects and none are left, their number is unknown.
    select source_runs.run_id
    from source_runs
    left join (select distinct run_id from rejects) as kept on kept.run_id = source_runs.run_id
    where source_runs.all_rejected = 0 or kept.run_id is not null
),
source_rejects as (
    select
        run_id,
        stream,
        count(*) as rejected,
        sum(case when expected = 'a record that the service can serve' then 1 else 0 end) as unserved,
        sum(case when expected like 'a record of at most % bytes' then 1 else 0 end) as oversized
    from rejects
    where table_name is null
    group by run_id, stream
),
source_rejected_values as (
    select run_id, stream, table_name, column_name, count(*) as rejected
    from rejects
    where table_name is not null
    group by run_id, stream, table_name, column_name
),
records_lacking_a_value as (
    select run_id, stream, count(*) as records
    from (
        select distinct run_id, stream, pass_id, list, page, position from rejects where table_name is not null
    ) as places
    group by run_id, stream
),
last_run as (
    select run_id from source_runs order by started_at desc nulls last, run_id desc nulls last limit 1
),
by_stream as (
    select
        run_id,
        stream,
        cast(sum(records) as double) as records,
        -- lookups request single vehicles and prove nothing by design
        sum(case when reason is not null and kind <> 'lookup' then 1 else 0 end) as incomplete_passes,
        max((length(drift) - length(replace(drift, '"path":', ''))) / 7) as drifted_members,
        -- for cars, only a full pass shows what left
        max(case when complete and (kind = 'full' or (kind = 'window' and stream <> 'cars')) then started_second end)
            as whole_second
    from source_passes
    group by run_id, stream
),
rejected_values as (
    -- once a column had rejected values, every run has a row for it, possibly 0
    select
        by_stream.run_id,
        columns.table_name,
        columns.column_name,
        sum(case when runs_with_rejects.run_id is not null then coalesce(source_rejected_values.rejected, 0) end)
            as rejected
    from by_stream
    left join runs_with_rejects on runs_with_rejects.run_id = by_stream.run_id
    inner join (select distinct stream, table_name, column_name from source_rejected_values) as columns
        on columns.stream = by_stream.stream
    left join source_rejected_values
        on source_rejected_values.run_id = by_stream.run_id
        and source_rejected_values.stream = by_stream.stream
        and source_rejected_values.table_name = columns.table_name
        and source_rejected_values.column_name = columns.column_name
    group by by_stream.run_id, columns.table_name, columns.column_name
),
known_runs as (
    select run_id, started_at, started_second from source_runs
    union all
    -- after a rebuild of a lake whose runs are lost, their passes still exist
    select source_passes.run_id, min(source_passes.started_at), min(source_passes.started_second)
    from source_passes
    left join source_runs on source_runs.run_id = source_passes.run_id
    where source_runs.run_id is null
    group by source_passes.run_id
),
streams as (
    select distinct stream from by_stream
),
ages as (
    select
        known_runs.run_id,
        streams.stream,
        known_runs.started_second - max(by_stream.whole_second) over (
            partition by streams.stream
            order by known_runs.started_at nulls last, known_runs.run_id nulls last
            rows between unbounded preceding and current row
        ) as seconds
    from known_runs
    cross join streams
    left join by_stream
        on by_stream.run_id = known_runs.run_id
        and by_stream.stream = streams.stream
),
columns_of_lots as (
    select
        count(*) as all_rows,
        count(sale_date) as sale_date,
        count(final_bid) as final_bid,
        count(odometer_km) as odometer_km,
        count(nullif(trim(damage_main_name), '')) as damage_main_name,
        count(nullif(trim(title_name), '')) as title_name,
        count(nullif(trim(location_state_code), '')) as location_state_code,
        count(created_at) as created_at
    from lots
),
columns_of_vehicles as (
    select
        count(*) as all_rows,
        count(nullif(trim(vin), '')) as vin,
        count(year) as year,
        count(manufacturer_id) as manufacturer_id,
        count(model_id) as model_id
    from vehicles
),
columns_of_prices as (
    select count(*) as all_rows, count(bid) as bid, count(sale_date) as sale_date from prices
),
filled_columns as (
    select 'lots.sale_date' as subject, sale_date as filled_rows, all_rows from columns_of_lots
    union all
    select 'lots.final_bid', final_bid, all_rows from columns_of_lots
    union all
    select 'lots.odometer_km', odometer_km, all_rows from columns_of_lots
    union all
    select 'lots.damage_main_name', damage_main_name, all_rows from columns_of_lots
    union all
    select 'lots.title_name', title_name, all_rows from columns_of_lots
    union all
    select 'lots.location_state_code', location_state_code, all_rows from columns_of_lots
    union all
    select 'lots.created_at', created_at, all_rows from columns_of_lots
    union all
    select 'vehicles.vin', vin, all_rows from columns_of_vehicles
    union all
    select 'vehicles.year', year, all_rows from columns_of_vehicles
    union all
    select 'vehicles.manufacturer_id', manufacturer_id, all_rows from columns_of_vehicles
    union all
    select 'vehicles.model_id', model_id, all_rows from columns_of_vehicles
    union all
    select 'prices.bid', bid, all_rows from columns_of_prices
    union all
    select 'prices.sale_date', sale_date, all_rows from columns_of_prices
),
placeholders as (
    select 'lots.sale_date' as subject, count(*) as dates
    from lots
    cross join dim_settings as settings
    where lots.sale_date < settings.first_sale_day
    union all
    select 'prices.sale_date', count(*)
    from prices
    cross join dim_settings as settings
    where prices.sale_date < settings.first_sale_day
),
vin_faults as (
    select reason, count(*) as faults, sum(count(*)) over () as vins from vin_facts group by reason
),
stream_rows as (
    select
        by_stream.run_id,
        by_stream.stream,
        by_stream.records,
        case when runs_with_rejects.run_id is not null then coalesce(source_rejects.rejected, 0) end as rejected,
        coalesce(source_rejects.unserved, 0) as unserved,
        coalesce(source_rejects.oversized, 0) as oversized,
        case when runs_with_rejects.run_id is not null then coalesce(records_lacking_a_value.records, 0) end
            as lacking_a_value,
        by_stream.drifted_members,
        by_stream.incomplete_passes
    from by_stream
    left join runs_with_rejects on runs_with_rejects.run_id = by_stream.run_id
    left join source_rejects
        on source_rejects.run_id = by_stream.run_id
        and source_rejects.stream = by_stream.stream
    left join records_lacking_a_value
        on records_lacking_a_value.run_id = by_stream.run_id
        and records_lacking_a_value.stream = by_stream.stream
),
metrics as (
    select
        run_id,
        'run' as subject,
        'minutes' as metric,
        greatest(ended_second - started_second, 0) / 60 as value,
        'minutes' as unit
    from source_runs
    where ended_second is not null
    union all
    select
        run_id,
        'run',
        'warnings',
        case when length(warnings) > 2 then 1 + (length(warnings) - length(replace(warnings, '","', ''))) / 3 else 0 end,
        'warnings'
    from source_runs
    union all
    select
        run_id,
        'run',
        'guard_held',
        case when length(held) > 2 then 1 + (length(held) - length(replace(held, '","', ''))) / 3 else 0 end,
        'runs'
    from source_runs
    union all
    select
        run_id,
        'run',
        'failing_runs',
        case
            when length(failing) > 2 then 1 + (length(failing) - length(replace(failing, '","', ''))) / 3
            else 0
        end,
        'runs'
    from source_runs
    union all
    select run_id, stream, 'age_hours', greatest(seconds, 0) / 3600, 'hours' from ages where seconds is not null
    union all
    select run_id, stream, 'records', records, 'records' from stream_rows
    union all
    select run_id, stream, 'rejected', rejected, 'records' from stream_rows
    union all
    select run_id, stream, 'unserved_records', unserved, 'records'
    from stream_rows
    where rejected is not null and stream in (select stream from source_rejects where unserved > 0)
    union all
    select run_id, stream, 'oversized_records', oversized, 'records'
    from stream_rows
    where rejected is not null and stream in (select stream from source_rejects where oversized > 0)
    union all
    select run_id, stream, 'reject_share', rejected / records, 'share, 0 to 1' from stream_rows where records > 0
    union all
    select run_id, stream, 'rejected_value_share', lacking_a_value / records, 'share, 0 to 1'
    from stream_rows
    where records > 0
    union all
    select run_id, table_name || '.' || column_name, 'rejected_values', rejected, 'values'
    from rejected_values
    union all
    select run_id, stream, 'drifted_members', drifted_members, 'members' from stream_rows
    union all
    select run_id, stream, 'incomplete_passes', incomplete_passes, 'passes' from stream_rows
    union all
    select
        last_run.run_id,
        filled_columns.subject,
        'null_share',
        1 - cast(filled_columns.filled_rows as double) / filled_columns.all_rows,
        'share, 0 to 1'
    from filled_columns
    cross join last_run
    where filled_columns.all_rows > 0
    union all
    select last_run.run_id, placeholders.subject, 'placeholder_dates', placeholders.dates, 'rows'
    from placeholders
    cross join last_run
    where placeholders.dates > 0
    union all
    select
        last_run.run_id,
        'vehicles.vin',
        'vin_' || vin_faults.reason || '_share',
        cast(vin_faults.faults as double) / vin_faults.vins,
        'share, 0 to 1'
    from vin_faults
    cross join last_run
    where vin_faults.reason is not null
),
ranked as (
    select
        source_runs.run_id,
        source_runs.started_at,
        source_runs.pipeline,
        metrics.subject,
        metrics.metric,
        cast(metrics.value as double) as value,
        metrics.unit,
        case
            when metrics.metric = 'age_hours' then metrics.subject = 'cars' and metrics.value > 36
            when metrics.metric in ('reject_share', 'rejected_value_share') then metrics.value > source_runs.reject_alarm
            when metrics.metric = 'null_share' then metrics.value > 0.98
            else
                metrics.metric in ('failing_runs', 'incomplete_passes', 'unserved_records', 'oversized_records')
                and metrics.value > 0
        end as is_alarm,
        -- figures of the whole lake are replaced by the next run of any pipeline
        row_number() over (
            partition by
                metrics.subject,
                metrics.metric,
                case
                    when metrics.metric in ('age_hours', 'null_share', 'placeholder_dates', 'failing_runs') then ''
                    else source_runs.pipeline
                end
            order by source_runs.started_at desc nulls last, source_runs.run_id desc nulls last
        ) = 1 as is_current
    from metrics
    inner join source_runs on source_runs.run_id = metrics.run_id
),
final as (
    select run_id, started_at, pipeline, subject, metric, value, unit, is_alarm, is_current
    from ranked
    where value is not null
)
select * from final
