with receipts as (
    select vehicle_id, staged_seq, unchanged_seq from run.receipts
),
overtaken as (
    select vehicle_id from run.overtaken_vehicles
),
last_unchanged as (
    select vehicle_id, max(unchanged_seq) as seq
    from receipts
    where unchanged_seq > coalesce(staged_seq, -1)
    group by vehicle_id
)
select vehicle_id, seq from last_unchanged where vehicle_id not in (select vehicle_id from overtaken)
union all
-- another run saw the vehicle after every page of this pass
select vehicle_id, 9007199254740991 as seq from overtaken
