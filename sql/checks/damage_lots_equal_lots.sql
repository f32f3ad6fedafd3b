-- description: Each model has as many lots in damage_breakdown as in lots.
-- severity: error
with expected as (
    select
        lots.domain_id,
        vehicles.manufacturer_id,
        vehicles.model_id,
        count(*) as lots
    from lots
    left join vehicles on vehicles.vehicle_id = lots.vehicle_id
    group by lots.domain_id, vehicles.manufacturer_id, vehicles.model_id
),
actual as (
    select
        domain_id,
        manufacturer_id,
        model_id,
        sum(lots) as lots
    from damage_breakdown
    group by domain_id, manufacturer_id, model_id
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.manufacturer_id, actual.manufacturer_id) as manufacturer_id,
        coalesce(expected.model_id, actual.model_id) as model_id,
        coalesce(expected.lots, 0) as expected_lots,
        coalesce(actual.lots, 0) as actual_lots
    from expected
    full join actual
        on actual.domain_id is not distinct from expected.domain_id
        and actual.manufacturer_id is not distinct from expected.manufacturer_id
        and actual.model_id is not distinct from expected.model_id
)
select * from final
where expected_lots <> actual_lots
