-- When the service last delivered a vehicle, by itself or with one of its lots.
select strftime(max(seen_at), '%Y-%m-%dT%H:%M:%SZ') as seen_at from sightings where vehicle_id = $vehicle_id
