with classified as (
    select
        compared.*,
        case
            when _old_hash is null then 'inserted'
            when _new_hash is not null and (_new_hash <> _old_hash or _was_gone) then 'updated'
            when _new_hash is null
                and not _was_gone
                and _owner_id in (from delivering_owners)
                -- a row without a source may be of one that the key lacks: if there is one, NOT IN gives null
                and _source_id not in (from run.hidden_sources)
            then 'gone'
            -- the row differs only in its list of rejected values
            when _new_note <> _old_note then 'noted'
        end as _action
    from compared
)
from classified where _action is not null
