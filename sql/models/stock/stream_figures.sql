with sealed as (
    select run_id, stream, kind, complete, reason, records, drift, started_at from passes where state = 'sealed'
),
published as (
    -- others are in the table too; an older lotlake recorded no outcome
    select run_id, started_at, coalesce(rejected, 0) + coalesce(rejected_values, 0) as all_rejected
    from runs
    where coalesce(outcome, 'published') = 'published'
),
runs_with_rejects as (
    -- Rejects disappear with their pass. If a run had rejects and none are left, their number is unknown.
    select published.run_id
    from published
    left join (select distinct run_id from rejects) as kept using (run_id)
    where published.all_rejected = 0 or kept.run_id is not null
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
records_lacking_a_value as (
    select run_id, stream, count(*) as records
    from (
        select distinct run_id, stream, pass_id, list, page, position from rejects where table_name is not null
    ) as places
    group by all
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
        max(started_at) filter (
            where complete and (kind = 'full' or (kind = 'window' and stream <> 'cars'))
        ) as whole_at
    from sealed
    group by all
),
known_runs as (
    select run_id, started_at from published
    union all
    -- after a rebuild of a lake whose runs are lost, their passes still exist
    select run_id, min(sealed.started_at) from sealed anti join published using (run_id) group by run_id
),
ages as (
    select
        run_id,
        stream,
        second_of(started_at) - second_of(max(whole_at) over (
            partition by stream
            order by started_at nulls last, run_id nulls last
            rows between unbounded preceding and current row
        )) as seconds
    from known_runs
    cross join (select distinct stream from by_stream) as streams
    left join by_stream using (run_id, stream)
)
select
    ages.run_id,
    ages.stream,
    seconds,
    by_stream.records,
    case when runs_with_rejects.run_id is not null then coalesce(rejected, 0) end as rejected,
    unserved,
    oversized,
    case when runs_with_rejects.run_id is not null then coalesce(lacking.records, 0) end as lacking_a_value,
    drifted_members,
    incomplete_passes
from ages
left join by_stream on by_stream.run_id = ages.run_id and by_stream.stream = ages.stream
left join runs_with_rejects on runs_with_rejects.run_id = by_stream.run_id
left join source_rejects on source_rejects.run_id = by_stream.run_id and source_rejects.stream = by_stream.stream
left join records_lacking_a_value as lacking on lacking.run_id = by_stream.run_id and lacking.stream = by_stream.stream
