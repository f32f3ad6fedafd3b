-- Rejects of a run and a stream (null for all), in groups that break the contract in one way, with the first of each.
select
    stream,
    regexp_replace(path, '\[\d+\]', '[]', 'g') as place,
    expected,
    table_name || '.' || column_name as lacking,
    split_part(found, ' ', 1) as kind,
    count(*) as rejects,
    arg_min(
        {
            'pass_id': pass_id, 'list': list, 'page': page, 'position': position, 'record_id': record_id,
            'run_id': run_id, 'path': path, 'found': found, 'raw': raw
        },
        (pass_id, list, page, position, path)
    ) as first
from (
    -- an older lotlake did not set aside single values
    from rejects
    union all by name
    select cast(null as varchar) as table_name, cast(null as varchar) as column_name where false
)
where ($run is null or run_id = $run) and ($stream is null or stream = $stream)
group by all
order by rejects desc, stream, place, expected, kind
