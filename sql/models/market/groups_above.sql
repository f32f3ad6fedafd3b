with groups as (
    select place, depth, min(lot_id) as lot_id from lot_levels group by place, depth
)
-- the groups above a group are those of any lot in it
select
    groups.place,
    groups.depth,
    above.place as above_place,
    above.level as above_level,
    above.depth as above_depth
from groups
inner join lot_levels as above on above.lot_id = groups.lot_id and above.depth <= groups.depth
