with arrivals as (
    select vehicle_id, _seq as seq, true as is_staged from stage.vehicles
    union all
    select vehicle_id, seq, false as is_staged from run.unchanged_records
)
-- keep the lists apart: the list of a source may show a vehicle with the lots of that source only
select
    vehicle_id,
    list,
    max(seq) filter (is_staged) as staged_seq,
    count(*) filter (is_staged) as staged_times,
    max(seq) filter (not is_staged) as unchanged_seq
from arrivals
left join run.pages using (seq)
group by all
