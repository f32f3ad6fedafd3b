-- What the inspections of a vehicle found that is not in order, with its place on a map of the car where one is given.
select
    report_id, block_key, coalesce(part_key, part_label) as part, coalesce(location_key, location_label) as place, result_key,
    array_to_string(issue_type_keys, ', ') as issues, severity_key, recommendation_key,
    coalesce(description, clarification, source_label) as words, visual_map_id, visual_marker_label, visual_x, visual_y,
    visual_width, visual_height
from checked_items
where vehicle_id = $vehicle_id and gone_at is null
    and (visual_x is not null or result_key not in ('ok', 'unknown', 'not_equipped', 'not_applicable', 'not_checked'))
order by report_id, position
