-- description: No model has more prices in odometer_curve than in sales. It may have fewer, because some lots have no usable reading.
-- severity: error
with expected as (
    select manufacturer_id, model_id, count(price) as priced
    from sales
    where year is not null
    group by manufacturer_id, model_id
),
actual as (
    select manufacturer_id, model_id, sum(priced_lots) as priced
    from odometer_curve
    where level = 'model'
    group by manufacturer_id, model_id
),
final as (
    select
        actual.manufacturer_id,
        actual.model_id,
        coalesce(expected.priced, 0) as expected_priced,
        actual.priced as actual_priced
    from actual
    left join expected
        on expected.manufacturer_id is not distinct from actual.manufacturer_id
        and expected.model_id is not distinct from actual.model_id
)
select * from final
where actual_priced > expected_priced
