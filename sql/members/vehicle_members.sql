select
    _vehicle_id as vehicle_id,
    lots is not null as lots,
    listings is not null as listings,
    inspections is not null as inspections,
    vehicle_history_reports is not null as vehicle_history_reports,
    inspections is not null and vehicle_history_reports is not null as reports,
    _seq
from records
