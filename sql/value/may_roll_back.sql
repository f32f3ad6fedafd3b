-- Whether a vehicle can have more than one odometer reading: it has several lots, a listing, which comes with reports, or a
-- reading that changed. This reads much less than its timeline does.
select
    count(*) > 1
    or coalesce(bool_or(coalesce(not is_auction(domain_id), true)), false)
    or exists (select 1 from lot_changes where lot_id = $lot and field = 'odometer_km') as may_roll_back
from lots
where vehicle_id = $vehicle
