-- description: 95 of 100 events of a source have the report that lists them.
-- severity: warn
with listed as (
    select domain_id, count(*) as events
    from events
    where gone_at is null
    group by domain_id
),
counted as (
    select domain_id, count(*) as events
    from claim_history
    group by domain_id
),
final as (
    select
        listed.domain_id,
        listed.events,
        coalesce(counted.events, 0) as matched
    from listed
    left join counted on counted.domain_id is not distinct from listed.domain_id
)
select * from final
where matched < 0.95 * events
