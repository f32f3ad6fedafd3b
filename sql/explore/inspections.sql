-- The inspections of a vehicle that the service still has, the newest first, with what they conclude.
select
    listing_id, report_id, inspected_at, conclusions_overall_result_key as result, conclusions_accident_status_key as accident,
    conclusions_water_damage_status_key as water, conclusions_fire_damage_status_key as fire, conclusions_notes as notes,
    vehicle_snapshot_mileage_km as km,
    (
        select string_agg(concat_ws(' ', code, nullif('(' || coalesce(status_key, '') || ')', '()'), coalesce(description, source_label)), '; ' order by position)
        from diagnostic_errors as errors
        where errors.vehicle_id = $vehicle_id and errors.report_id = inspections.report_id and errors.gone_at is null
    ) as codes,
    (
        select string_agg(coalesce(source_label, type_key) || coalesce(': ' || description, ''), '; ' order by position)
        from inspection_claims as claims
        where claims.vehicle_id = $vehicle_id and claims.report_id = inspections.report_id and claims.gone_at is null
            and claims.result_key = 'issue'
    ) as claims,
    (
        select count(*)
        from checked_items as items
        where items.vehicle_id = $vehicle_id and items.report_id = inspections.report_id and items.gone_at is null
            and coalesce(result_key, 'unknown') in ('not_checked', 'unknown')
    ) as unchecked
from inspections
where vehicle_id = $vehicle_id and gone_at is null
order by inspected_at desc nulls last, report_id
