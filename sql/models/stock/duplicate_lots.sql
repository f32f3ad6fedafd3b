with recursive given as (
    select duplicate_id, original_id from duplicates where gone_at is null
),
chosen as (
    -- With one original each, the pairs form trees below roots, and circles without a root. Lot numbers are text, but 9
    -- must come before 13.
    select duplicate_id, original_id
    from (
        select
            *,
            row_number() over (
                partition by duplicate_id order by length(original_id) nulls last, original_id nulls last
            ) as place
        from given
        where duplicate_id <> original_id
    ) as originals
    where place = 1
),
resolved as (
    select distinct given.original_id as id, given.original_id as root_id, cast(0 as bigint) as hops
    from given
    left join chosen on chosen.duplicate_id = given.original_id
    where chosen.duplicate_id is null
    union all
    select chosen.duplicate_id, resolved.root_id, resolved.hops + 1
    from resolved
    inner join chosen on chosen.original_id = resolved.id
),
chains as (
    select given.duplicate_id, given.original_id, resolved.root_id, resolved.hops + 1 as hops
    from given
    left join resolved on resolved.id = given.original_id and given.duplicate_id <> given.original_id
),
newest_lots as (
    select trim(lot) as lot, max(lot_id) as lot_id from lots where not is_auction(domain_id) group by all
),
listed as (
    select
        newest_lots.lot,
        lots.lot_id,
        lots.vehicle_id,
        not coalesce(lots.archived, false) as is_active,
        lot_groups.currency,
        plausible_price(lots.buy_now) as asking
    from newest_lots
    inner join lots using (lot_id)
    inner join lot_groups using (lot_id)
),
pairs as (
    select
        chains.*,
        duplicate.lot_id as duplicate_lot_id,
        duplicate.vehicle_id as duplicate_vehicle_id,
        root.lot_id as root_lot_id,
        root.vehicle_id as root_vehicle_id,
        duplicate.is_active as duplicate_active,
        root.is_active as root_active,
        -- currency of both lots, or of the known one; lots with different currencies are not compared
        case
            when root.lot_id is null then duplicate.currency
            when duplicate.lot_id is null or duplicate.currency = root.currency then root.currency
        end as currency,
        duplicate.asking as duplicate_asking,
        root.asking as root_asking
    from chains
    left join listed as duplicate on duplicate.lot = chains.duplicate_id
    left join listed as root on root.lot = chains.root_id
)
select
    duplicate_id,
    original_id,
    root_id,
    hops,
    root_id is null as is_cycle,
    duplicate_lot_id,
    duplicate_vehicle_id,
    root_lot_id,
    root_vehicle_id,
    duplicate_vehicle_id = root_vehicle_id as is_same_vehicle,
    duplicate_active,
    root_active,
    currency,
    case when currency is not null then money(duplicate_asking) end as duplicate_asking,
    case when currency is not null then money(root_asking) end as root_asking
from pairs
