-- description: With tables of costs, one destination is the default one and valid, and at least half of the lots of known currency have a total for each; missing_for_example is what one of the others lacks.
-- severity: warn
with counted as (
    select
        destination,
        count(*) as lots,
        count(cost) as with_total,
        min(missing) as missing_for_example
    from landed_costs
    where lot_currency is not null
    group by destination
)
select * from counted where with_total < 0.5 * lots
union all
select 'the default destination', count(*), 0, 'its row of destinations.csv is not valid on the day of the run'
from lots_on_offer
where cost_destination is null and exists (select cost_row from cost_rows)
having count(*) > 0
