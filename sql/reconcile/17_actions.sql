with classified as (
    select
        compared.*,
        case
            when _old_hash is null then 'inserted'
            when _new_hash is not null and (_new_hash <> _old_hash or _was_gone) then 'updated'
            when _new_hash is null and _owner_came and not _was_gone then 'gone'
            -- the row differs only in its list of rejected values
            when _new_note <> _old_note then 'noted'
        end as _action
    from compared
)
select * from classified where _action is not null
