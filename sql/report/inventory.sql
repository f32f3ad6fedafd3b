-- Lots by source at the end of each of the last 90 days.
select *, day as moment, active_lots as value
from inventory_daily
where day > (select max(day) from inventory_daily) - interval 90 day
order by domain_id, day
