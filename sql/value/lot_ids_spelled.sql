-- The lots of a lot number that the feed spells otherwise, and their vehicles. This reads all lot numbers.
select lot_id, vehicle_id from lots where $id <> '' and upper(trim(lot)) = $id order by lot_id
