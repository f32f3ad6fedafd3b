-- The last complete pass of each stream, and its records.
select stream, max(started_at) as at, arg_max(records, started_at) as records
from passes
where complete
group by all
order by stream
