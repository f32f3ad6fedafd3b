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
    left join (select distinct run_id from rejects) as kept using (run_id)
    where source_runs.all_rejected = 0 or kept.run_id is not null
),
source_rejects as (
    select
        run_id,
        stream,
        count(*) as rejected,
        count(*) filter (where expected = 'a record that the service can serve') as unserved,
        count(*) filter (where expected like 'a record of at most % bytes') as oversized
    from rejects
    where table_name is null
    group by all
),
source_rejected_values as (
    select run_id, stream, table_name, column_name, count(*) as rejected
    from rejects
    where table_name is not null
    group by all
),
records_lacking_a_value as (
    select run_id, stream, count(*) as records
    from (
        select distinct run_id, stream, pass_id, list, page, position from rejects where table_name is not null
    ) as places
    group by all
),
last_run as (
    select run_id from source_runs order by started_at desc nulls last, run_id desc nulls last limit 1
),
by_stream as (
    select
        run_id,
        stream,
        sum(records) as records,
        -- lookups request single vehicles and prove nothing by design
        count(*) filter (where reason is not null and kind <> 'lookup') as incomplete_passes,
        max((length(drift) - length(replace(drift, '"path":', ''))) / 7) as drifted_members,
        -- for cars, only a full pass shows what left
        max(started_second) filter (
            where complete and (kind = 'full' or (kind = 'window' and stream <> 'cars'))
        ) as whole_second
    from source_passes
    group by all
),
rejected_values as (
    -- once a column had rejected values, every run has a row for it, possibly 0
    select
        run_id,
        table_name,
        column_name,
        sum(case when runs_with_rejects.run_id is not null then coalesce(source_rejected_values.rejected, 0) end)
            as rejected
    from by_stream
    left join runs_with_rejects using (run_id)
    inner join (select distinct stream, table_name, column_name from source_rejected_values) as columns using (stream)
    left join source_rejected_values using (run_id, stream, table_name, column_name)
    group by run_id, table_name, column_name
),
known_runs as (
    select run_id, started_at, started_second from source_runs
    union all
    -- after a rebuild of a lake whose runs are lost, their passes still exist
    select run_id, min(source_passes.started_at), min(source_passes.started_second)
    from source_passes
    anti join source_runs using (run_id)
    group by run_id
),
ages as (
    select
        run_id,
        stream,
        started_second - max(whole_second) over (
            partition by stream
            order by started_at nulls last, run_id nulls last
            rows between unbounded preceding and current row
        ) as seconds
    from known_runs
    cross join (select distinct stream from by_stream) as streams
    left join by_stream using (run_id, stream)
),
filled_columns as (
    select 'lots' as table_name, column_name, filled_rows, all_rows
    from (
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
    ) as counts
    unpivot (filled_rows for column_name in (
        sale_date, final_bid, odometer_km, damage_main_name, title_name, location_state_code, created_at
    ))
    union all
    select 'vehicles', column_name, filled_rows, all_rows
    from (
        select
            count(*) as all_rows,
            count(nullif(trim(vin), '')) as vin,
            count(year) as year,
            count(manufacturer_id) as manufacturer_id,
            count(model_id) as model_id
        from vehicles
    ) as counts
    unpivot (filled_rows for column_name in (vin, year, manufacturer_id, model_id))
    union all
    select 'prices', column_name, filled_rows, all_rows
    from (select count(*) as all_rows, count(bid) as bid, count(sale_date) as sale_date from prices) as counts
    unpivot (filled_rows for column_name in (bid, sale_date))
),
placeholders as (
    select 'lots' as table_name, count(*) as dates
    from lots
    cross join dim_settings
    where day_of(sale_date) < first_sale_day
    union all
    select 'prices', count(*)
    from prices
    cross join dim_settings
    where day_of(sale_date) < first_sale_day
),
vin_faults as (
    select reason, count(*) as faults, sum(count(*)) over () as vins from vin_facts group by reason
),
year_origins as (
    select
        count(*) as vehicles,
        count(*) filter (where year_origin = 'doubted') as doubted,
        count(*) filter (where year_origin = 'vin') as from_vin
    from vehicle_facts
),
source_weeks as (
    -- results come for some days after an auction, so the last week ends three days before the run
    select
        coalesce(domain_name, 'source') || ' (' || cast(domain_id as string) || ')' as source,
        cast(floor((days_between(sale_date, as_of) - 3) / 7) as integer) as weeks_ago,
        min(day_of(as_of)) as run_day,
        count(*) as attempts,
        count(*) filter (where outcome = 'unresolved') as unresolved,
        count(*) filter (where outcome = 'sold') as sales,
        count(*) filter (where trust_reason = 'no_price') as unpriced,
        count(*) filter (where is_trusted) as prices,
        count(*) filter (where is_outlier) as outliers
    from sales
    cross join dim_settings
    where outcome <> 'upcoming' and sale_date <= as_of - interval '3' day and days_between(sale_date, as_of) <= 93
    group by all
),
listed_weeks as (
    -- the weeks of source_weeks, by the day on which the source listed the lot
    select
        coalesce(dim_sources.domain_name, 'source') || ' (' || cast(domain_id as string) || ')' as source,
        cast(floor((days_between(created_at, as_of) - 3) / 7) as integer) as weeks_ago,
        min(day_of(as_of)) as run_day,
        count(*) as lots,
        count(*) filter (where year_origin = 'doubted') as doubted,
        count(*) filter (where year_origin = 'vin') as from_vin
    from lots
    inner join vehicle_facts using (vehicle_id)
    inner join dim_sources using (domain_id)
    cross join dim_settings
    where created_at <= as_of - interval '3' day and days_between(created_at, as_of) <= 93
    group by all
),
parts_of_weeks as (
    select source, weeks_ago, run_day, 'no_result_share' as metric, unresolved as part, attempts as whole from source_weeks
    union all
    select source, weeks_ago, run_day, 'no_amount_share', unpriced, sales from source_weeks
    union all
    select source, weeks_ago, run_day, 'outlier_share', outliers, prices from source_weeks
    union all
    select source, weeks_ago, run_day, 'doubted_year_share', doubted, lots from listed_weeks
    union all
    select source, weeks_ago, run_day, 'year_from_vin_share', from_vin, lots from listed_weeks
),
compared_weeks as (
    select
        *,
        part / whole as share,
        sum(part) over weeks_before / sum(whole) over weeks_before as share_before,
        sum(whole) over weeks_before as whole_before
    from parts_of_weeks
    where whole > 0
    window weeks_before as (
        partition by source, metric
        order by weeks_ago nulls last
        rows between 1 following and unbounded following
    )
),
source_shares as (
    -- a week alarms if chance does not explain by how much it exceeds the weeks before: Wilson's bounds of both shares at
    -- three standard deviations do not meet, and five points lie between the shares
    select
        source || ', week of ' || cast(cast(run_day - interval '9' day - 7 * weeks_ago * interval '1' day as date) as string)
            as subject,
        metric,
        share,
        weeks_ago = 0 and whole >= 20 and share >= share_before + 0.05
            and (share + 4.5 / whole - 3 * sqrt(share * (1 - share) / whole + 2.25 / (whole * whole))) / (1 + 9 / whole)
            > (
                share_before + 4.5 / whole_before
                + 3 * sqrt(share_before * (1 - share_before) / whole_before + 2.25 / (whole_before * whole_before))
            ) / (1 + 9 / whole_before) as is_high
    from compared_weeks
    union all
    -- what was always so is no news, but no source is used to 3 % doubted prices, or to half of the results or years missing
    select
        source,
        metric,
        share,
        (share + 4.5 / whole - 3 * sqrt(share * (1 - share) / whole + 2.25 / (whole * whole))) / (1 + 9 / whole)
            > case when metric = 'outlier_share' then 0.03 else 0.5 end
    from (
        select source, metric, sum(whole) as whole, sum(part) / sum(whole) as share
        from parts_of_weeks
        where whole > 0
        group by source, metric
    ) as whole_sources
),
stream_rows as (
    select
        run_id,
        stream,
        by_stream.records,
        case when runs_with_rejects.run_id is not null then coalesce(rejected, 0) end as rejected,
        coalesce(unserved, 0) as unserved,
        coalesce(oversized, 0) as oversized,
        case when runs_with_rejects.run_id is not null then coalesce(lacking.records, 0) end as lacking_a_value,
        drifted_members,
        incomplete_passes
    from by_stream
    left join runs_with_rejects using (run_id)
    left join source_rejects using (run_id, stream)
    left join records_lacking_a_value as lacking using (run_id, stream)
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
        case when length(failing) > 2 then 1 + (length(failing) - length(replace(failing, '","', ''))) / 3 else 0 end,
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
    select run_id, table_name || '.' || column_name, 'null_share', 1 - filled_rows / all_rows, 'share, 0 to 1'
    from filled_columns
    cross join last_run
    where all_rows > 0
    union all
    select run_id, table_name || '.sale_date', 'placeholder_dates', dates, 'rows'
    from placeholders
    cross join last_run
    where dates > 0
    union all
    select run_id, 'vehicles.vin', 'vin_' || reason || '_share', faults / vins, 'share, 0 to 1'
    from vin_faults
    cross join last_run
    where reason is not null
    union all
    select run_id, 'vehicles.year', 'doubted_year_share', doubted / vehicles, 'share, 0 to 1'
    from year_origins
    cross join last_run
    where vehicles > 0
    union all
    select run_id, 'vehicles.year', 'year_from_vin_share', from_vin / vehicles, 'share, 0 to 1'
    from year_origins
    cross join last_run
    where vehicles > 0
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
