select lot_id, bool_or(prices) as prices, bool_or(images) as images
from counted.lot_members
cross join run.facts
where facts.is_from_feed
group by all
