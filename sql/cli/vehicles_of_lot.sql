-- The vehicles of a lot number, of one source or of all: those whose lot is in the feed first, then the one whose lot changed
-- last.
select vehicle_id
from lots
where upper(trim(lot)) = $lot and ($domain is null or domain_id = $domain) and vehicle_id is not null
group by vehicle_id
order by bool_and(archived), max(changed_at) desc, vehicle_id desc
