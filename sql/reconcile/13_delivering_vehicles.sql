with facts as (
    select is_from_feed from run.facts
),
members as (
    select vehicle_id, lots, listings, inspections, vehicle_history_reports, reports from current.vehicle_members
),
lists as (
    select count(distinct list) as lists from run.pages
)
select
    members.vehicle_id,
    bool_or(members.lots) as lots,
    bool_or(members.listings) as listings,
    bool_or(members.inspections) as inspections,
    bool_or(members.vehicle_history_reports) as vehicle_history_reports,
    bool_or(members.reports) as reports
from members
cross join facts
cross join lists
where facts.is_from_feed
    -- one list may have shown the vehicle unchanged, with children that the other list did not show
    and (lists.lists <= 1 or members.vehicle_id not in (select vehicle_id from run.unchanged_vehicles))
group by members.vehicle_id
