-- description: Each auction source has as many lots with both estimates in repair_economics as in damage_breakdown.
-- severity: error
with expected as (
    select domain_id, sum(repair_lots) as lots
    from damage_breakdown
    where domain_id <> 12
    group by domain_id
),
actual as (
    select domain_id, sum(lots) as lots
    from repair_economics
    group by domain_id
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.lots, 0) as expected_lots,
        coalesce(actual.lots, 0) as actual_lots
    from expected
    full join actual on actual.domain_id = expected.domain_id
)
select * from final
where expected_lots <> actual_lots
