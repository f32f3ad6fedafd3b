-- description: The active lots of a day are those of the day before, plus new and returned lots, less archived lots.
-- severity: error
with final as (
    select
        today.day,
        today.domain_id,
        yesterday.active_lots as active_before,
        today.new_lots,
        today.archived_lots,
        today.returned_lots,
        today.active_lots
    from inventory_daily as today
    left join inventory_daily as yesterday
        on yesterday.day = cast(today.day - interval '1' day as date)
        and yesterday.domain_id is not distinct from today.domain_id
    where not today.first_day
)
select * from final
where active_before is null
    or active_lots <> active_before + new_lots - archived_lots + returned_lots
