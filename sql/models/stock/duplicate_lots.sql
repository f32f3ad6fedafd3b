with recursive source_duplicates as (
    select duplicate_id, original_id
    from duplicates
    where gone_at is null
),
source_lots as (
    select
        lot_id,
        vehicle_id,
        trim(lot) as lot,
        not coalesce(archived, false) as is_active,
        plausible_price(buy_now) as asking
    from lots
    where domain_id = 12
),
chosen_originals as (
    -- with one original each, the pairs form trees below roots, and circles without a root
    select duplicate_id, original_id
    from (
        select
            duplicate_id,
            original_id,
            row_number() over (
                partition by duplicate_id
                -- lot numbers are text, but 9 must come before 13
                order by length(original_id) nulls last, original_id nulls last
            ) as place
        from source_duplicates
        where duplicate_id <> original_id
    ) as originals
    where place = 1
),
roots as (
    select distinct source_duplicates.original_id
    from source_duplicates
    left join chosen_originals on chosen_originals.duplicate_id = source_duplicates.original_id
    where chosen_originals.duplicate_id is null
),
resolved as (
    select
        original_id as id,
        original_id as root_id,
        cast(0 as bigint) as hops
    from roots
    union all
    select
        chosen_originals.duplicate_id as id,
        resolved.root_id,
        resolved.hops + 1 as hops
    from resolved
    inner join chosen_originals on chosen_originals.original_id = resolved.id
),
chains as (
    select
        source_duplicates.duplicate_id,
        source_duplicates.original_id,
        resolved.root_id,
        resolved.hops + 1 as hops
    from source_duplicates
    left join resolved
        on resolved.id = case
            when source_duplicates.duplicate_id <> source_duplicates.original_id then source_duplicates.original_id
        end
),
newest_lots as (
    select lot, max(lot_id) as lot_id from source_lots group by all
),
known_lots as (
    select
        source_lots.lot,
        source_lots.lot_id,
        source_lots.vehicle_id,
        source_lots.is_active,
        lot_groups.currency,
        source_lots.asking
    from source_lots
    inner join newest_lots on newest_lots.lot_id = source_lots.lot_id
    inner join lot_groups on lot_groups.lot_id = source_lots.lot_id
),
pairs as (
    select
        chains.duplicate_id,
        chains.original_id,
        chains.root_id,
        chains.hops,
        chains.root_id is null as is_cycle,
        duplicate.lot_id as duplicate_lot_id,
        duplicate.vehicle_id as duplicate_vehicle_id,
        root.lot_id as root_lot_id,
        root.vehicle_id as root_vehicle_id,
        duplicate.vehicle_id = root.vehicle_id as is_same_vehicle,
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
    left join known_lots as duplicate on duplicate.lot = chains.duplicate_id
    left join known_lots as root on root.lot = chains.root_id
)
select
    duplicate_id,
    original_id,
    root_id,
    hops,
    is_cycle,
    duplicate_lot_id,
    duplicate_vehicle_id,
    root_lot_id,
    root_vehicle_id,
    is_same_vehicle,
    duplicate_active,
    root_active,
    currency,
    case when currency is not null then money(duplicate_asking) end as duplicate_asking,
    case when currency is not null then money(root_asking) end as root_asking
from pairs
