-- description: The events of a report are numbered from 1 without a gap.
-- severity: error
select
    domain_id,
    listing_id,
    report_id,
    count(*) as events,
    min(event_number) as first_number,
    max(event_number) as last_number,
    count(distinct event_number) as numbers
from claim_history
group by domain_id, listing_id, report_id
having min(event_number) <> 1 or max(event_number) <> count(*) or count(distinct event_number) <> count(*)
