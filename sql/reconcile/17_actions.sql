with hidden as (
    select count(*) as sources from run.hidden_sources
),
classified as (
    select
        compared.*,
        case
            when compared._old_hash is null then 'inserted'
            when compared._new_hash is not null and (compared._new_hash <> compared._old_hash or compared._was_gone)
            then 'updated'
            when compared._new_hash is null
                and not compared._was_gone
                and delivering_owners.owner_id is not null
                -- the source of the row may be one that the key lacks
                and hidden_sources.domain_id is null
                and (hidden.sources = 0 or compared._source_id is not null)
            then 'gone'
            -- the row differs only in its list of rejected values
            when compared._new_note <> compared._old_note then 'noted'
        end as _action
    from compared
    cross join hidden
    left join delivering_owners on delivering_owners.owner_id = compared._owner_id
    left join run.hidden_sources as hidden_sources on hidden_sources.domain_id = compared._source_id
)
select * from classified where _action is not null
