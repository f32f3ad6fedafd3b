with facts as (
    select is_from_feed from run.facts
),
members as (
    select lot_id, prices, images from current.lot_members
)
select members.lot_id, bool_or(members.prices) as prices, bool_or(members.images) as images
from members
cross join facts
where facts.is_from_feed
group by members.lot_id
