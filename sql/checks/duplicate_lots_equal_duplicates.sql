-- description: duplicate_lots has each pair of the feed once, and no root repeats another lot.
-- severity: error
with source_duplicates as (
    select duplicate_id, original_id
    from duplicates
    where gone_at is null
),
missing as (
    select
        coalesce(source_duplicates.duplicate_id, duplicate_lots.duplicate_id) as duplicate_id,
        coalesce(source_duplicates.original_id, duplicate_lots.original_id) as original_id,
        'the pair stands on one side only' as reason
    from source_duplicates
    full join duplicate_lots
        on duplicate_lots.duplicate_id = source_duplicates.duplicate_id
        and duplicate_lots.original_id = source_duplicates.original_id
    where source_duplicates.duplicate_id is null or duplicate_lots.duplicate_id is null
),
repeating as (
    select
        duplicate_lots.duplicate_id,
        duplicate_lots.original_id,
        'the root is a duplicate itself' as reason
    from duplicate_lots
    where duplicate_lots.root_id in (
        select duplicate_id from source_duplicates where duplicate_id <> original_id
    )
),
final as (
    select duplicate_id, original_id, reason from missing
    union all
    select duplicate_id, original_id, reason from repeating
)
select * from final
