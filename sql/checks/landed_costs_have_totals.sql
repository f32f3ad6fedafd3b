-- description: At least half of the lots on offer with a likely price in a known currency have a total in landed_costs for each destination; the row shows what one of the others lacks.
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
