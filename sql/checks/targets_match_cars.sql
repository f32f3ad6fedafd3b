-- description: Every valid row of targets.csv means a lot on offer; a mistyped make or model means none.
-- severity: warn
select line, cells
from cost_rows
cross join dim_settings
where
    table_name = 'targets'
    and (valid_from is null or valid_from <= day_of(as_of))
    and (valid_to is null or valid_to >= day_of(as_of))
    -- a market can have too few prices of every car
    and replace(cells, '"market_source":""', '') <> cells
    and cost_row not in (select target_row from landed_costs where target_row is not null)
