-- description: Every lot on offer has a row of landed_costs for each destination whose row in cost_rows is valid.
-- severity: error
select offers.lots, landed.lot_rows, destinations.valid_ones
from (select count(*) as lots from lots_on_offer) as offers
cross join (select count(*) as lot_rows from landed_costs) as landed
cross join (
    select count(*) as valid_ones
    from cost_rows
    cross join dim_settings
    where
        table_name = 'destinations'
        and (valid_from is null or valid_from <= day_of(as_of))
        and (valid_to is null or valid_to >= day_of(as_of))
) as destinations
where lots * valid_ones <> lot_rows
