-- description: On the last day each source has as many active lots in inventory_daily as in lots.
-- severity: error
with last_days as (
    select domain_id, max(day) as day from inventory_daily group by domain_id
),
actual as (
    select inventory_daily.domain_id, inventory_daily.active_lots
    from inventory_daily
    inner join last_days
        on last_days.day = inventory_daily.day
        and last_days.domain_id is not distinct from inventory_daily.domain_id
),
expected as (
    select domain_id, count(case when not coalesce(archived, false) then 1 end) as active_lots
    from lots
    where first_seen_at is not null
    group by domain_id
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        expected.active_lots as expected_lots,
        actual.active_lots as actual_lots
    from expected
    full join actual on actual.domain_id is not distinct from expected.domain_id
)
select * from final
where expected_lots is distinct from actual_lots
