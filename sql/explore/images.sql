-- The pictures of the lots of a vehicle, by their addresses at the sources.
select lot_id, coalesce(normal, big, small, downloaded) as pictures from lot_images where vehicle_id = $vehicle_id order by lot_id desc
