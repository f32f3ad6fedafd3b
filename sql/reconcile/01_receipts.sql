with staged as (
    select vehicle_id, _seq as seq from stage.vehicles
),
unchanged as (
    select vehicle_id, seq from run.unchanged_records
),
pages as (
    select seq, list from run.pages
),
arrivals as (
    select vehicle_id, seq, seq as staged_seq, cast(null as bigint) as unchanged_seq from staged
    union all
    select vehicle_id, seq, cast(null as bigint) as staged_seq, seq as unchanged_seq from unchanged
),
final as (
    -- keep the lists apart: the list of a source may show a vehicle with the lots of that source only
    select
        arrivals.vehicle_id,
        pages.list,
        max(arrivals.staged_seq) as staged_seq,
        count(arrivals.staged_seq) as staged_times,
        max(arrivals.unchanged_seq) as unchanged_seq
    from arrivals
    left join pages on pages.seq = arrivals.seq
    group by arrivals.vehicle_id, pages.list
)
select vehicle_id, list, staged_seq, staged_times, unchanged_seq from final
