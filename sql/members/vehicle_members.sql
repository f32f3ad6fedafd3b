with came as (
    -- a list that lost a row shows of no other row that it is gone
    select
        _vehicle_id as vehicle_id,
        lots is not null and not coalesce(list_contains(_rejected, 'lots'), false) as lots,
        listings is not null and not coalesce(list_contains(_rejected, 'listings'), false) as listings,
        inspections is not null and not coalesce(list_contains(_rejected, 'inspections'), false) as inspections,
        vehicle_history_reports is not null
            and not coalesce(list_contains(_rejected, 'vehicle_history_reports'), false) as vehicle_history_reports,
        _seq
    from records
)
select
    vehicle_id,
    lots,
    listings,
    inspections,
    vehicle_history_reports,
    inspections and vehicle_history_reports as reports,
    _seq
from came
