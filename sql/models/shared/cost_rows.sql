-- The rows of the tables of costs of the user take the place of this SELECT, if there are any.
select
    cast(null as bigint) as cost_row,
    cast(null as string) as table_name,
    cast(null as bigint) as line,
    cast(null as date) as valid_from,
    cast(null as date) as valid_to,
    cast(null as string) as note,
    cast(null as string) as cells
where false
