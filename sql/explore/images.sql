-- The pictures of the lots of a vehicle, by their addresses at the sources.
select images.lot_id, domain_name, coalesce(normal, big, small, downloaded) as pictures
from lot_images as images
left join dim_sources using (domain_id)
where vehicle_id = $vehicle_id
order by images.lot_id desc
