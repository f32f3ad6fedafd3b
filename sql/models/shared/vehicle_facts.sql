with clock as (
    select extract(year from as_of) as year_now from dim_settings
),
years as (
    select
        vehicles.vehicle_id,
        manufacturers.joined_to as manufacturer_id,
        models.joined_to as model_id,
        vehicles.generation_id,
        vehicles.year is not null as is_stated,
        plausible_year(vehicles.year, year_now) as feed_year,
        vin_facts.vin,
        -- a VIN of another make is that of another car
        case
            when tells_year and coalesce(agrees_with_make, true) and reason is distinct from 'placeholder'
            then plausible_year(vin_facts.model_year, year_now)
        end as vin_year,
        reason is distinct from 'check_digit' as is_right,
        check_digit_ok and tells_cycle and agrees_with_make as is_certain
    from vehicles
    cross join clock
    left join vin_facts on vin_facts.vehicle_id = vehicles.vehicle_id
    left join dim_manufacturers as manufacturers on manufacturers.manufacturer_id = vehicles.manufacturer_id
    left join dim_models as models on models.model_id = vehicles.model_id
),
compared as (
    -- Model years of the feed are often one off. A year that is 30 years off is the other cycle of the code: heavy trucks do
    -- not have the seventh character of cars.
    select *, coalesce(abs(feed_year - vin_year) % 30 in (0, 1, 29), vin_year is null) as is_agreed from years
),
shared_vins as (
    -- a VIN that vehicles of several models have is wrong in all but one of them
    select vin
    from compared
    where vin in (select vin from compared where not is_agreed)
    group by vin
    having min(model_id) < max(model_id)
),
judged as (
    select
        compared.*,
        case
            when is_agreed then case when feed_year is not null then 'feed' when is_stated then 'doubted' else 'unknown' end
            when is_right and shared_vins.vin is null and (feed_year is null or is_certain) then 'vin'
            when is_stated then 'doubted'
            else 'unknown'
        end as year_origin
    from compared
    left join shared_vins on shared_vins.vin = compared.vin
)
select
    vehicle_id,
    manufacturer_id,
    model_id,
    generation_id,
    case year_origin when 'feed' then feed_year when 'vin' then vin_year end as year,
    year_origin
from judged
