with filled_columns as (
    select 'lots' as table_name, column_name, filled_rows, all_rows
    from (
        select
            count(*) as all_rows,
            count(sale_date) as sale_date,
            count(final_bid) as final_bid,
            count(odometer_km) as odometer_km,
            count(nullif(trim(damage_main_name), '')) as damage_main_name,
            count(nullif(trim(title_name), '')) as title_name,
            count(nullif(trim(location_state_code), '')) as location_state_code,
            count(created_at) as created_at
        from lots
    ) as counts
    unpivot (filled_rows for column_name in (
        sale_date, final_bid, odometer_km, damage_main_name, title_name, location_state_code, created_at
    ))
    union all
    select 'vehicles', column_name, filled_rows, all_rows
    from (
        select
            count(*) as all_rows,
            count(nullif(trim(vin), '')) as vin,
            count(year) as year,
            count(manufacturer_id) as manufacturer_id,
            count(model_id) as model_id
        from vehicles
    ) as counts
    unpivot (filled_rows for column_name in (vin, year, manufacturer_id, model_id))
    union all
    select 'prices', column_name, filled_rows, all_rows
    from (select count(*) as all_rows, count(bid) as bid, count(sale_date) as sale_date from prices) as counts
    unpivot (filled_rows for column_name in (bid, sale_date))
),
vin_faults as (
    select reason, count(*) as faults, sum(count(*)) over () as vins from vin_facts group by reason
),
year_origins as (
    select
        count(*) as vehicles,
        count(*) filter (where year_origin = 'doubted') as doubted,
        count(*) filter (where year_origin = 'vin') as from_vin
    from vehicle_facts
)
select
    table_name || '.' || column_name as subject,
    'null_share' as metric,
    1 - filled_rows / all_rows as value,
    'share, 0 to 1' as unit
from filled_columns
where all_rows > 0
union all
select table_name || '.' || column_name, 'placeholder_dates', dates, 'rows' from placeholder_dates where dates > 0
union all
select 'vehicles.vin', 'vin_' || reason || '_share', faults / vins, 'share, 0 to 1'
from vin_faults
where reason is not null
union all
select 'vehicles.year', 'doubted_year_share', doubted / vehicles, 'share, 0 to 1' from year_origins where vehicles > 0
union all
select 'vehicles.year', 'year_from_vin_share', from_vin / vehicles, 'share, 0 to 1' from year_origins where vehicles > 0
