with clock as (
    select extract(year from as_of) as year_now from dim_settings
),
source_vehicles as (
    select
        vehicles.vehicle_id,
        upper(trim(vehicles.vin)) as vin,
        vehicles.year,
        plausible_year(vehicles.year, year_now) as known_year,
        plain_name(vehicles.manufacturer_name) as make,
        coalesce(vehicles.vehicle_type_id, 1) as vehicle_type_id,
        year_now
    from vehicles
    cross join clock
    where trim(vehicles.vin) <> ''
),
makers as (
    select wmi, max(manufacturer) as manufacturer, max(country_code) as country_code from manufacturer_codes group by all
),
makes as (
    select distinct wmi, plain_name(make) as make from manufacturer_codes
),
known_makes as (
    select distinct make from makes
),
checked as (
    select *, case when regexp_matches(vin, '^[A-HJ-NPR-Z0-9]{17}$') then vin end as code from source_vehicles
),
parts as (
    -- North America asks for the check digit, and for the seventh character of cars to tell the cycle of model years
    select
        *,
        regexp_matches(code, '^([1-5]|7[F-Z0-9])') as is_north_american,
        substring(code, 1, 3) as wmi,
        1979 + nullif(instr('ABCDEFGHJKLMNPRSTVWXY123456789', substring(code, 10, 1)), 0) as first_year,
        -- the last digit of the place of a character is its value in the check digit
        '1234567890ABCDEFGH..JKLMN.P.R..STUVWXYZ' as places
    from checked
),
summed as (
    select
        *,
        (
            8 * (instr(places, substring(code, 1, 1)) % 10)
            + 7 * (instr(places, substring(code, 2, 1)) % 10)
            + 6 * (instr(places, substring(code, 3, 1)) % 10)
            + 5 * (instr(places, substring(code, 4, 1)) % 10)
            + 4 * (instr(places, substring(code, 5, 1)) % 10)
            + 3 * (instr(places, substring(code, 6, 1)) % 10)
            + 2 * (instr(places, substring(code, 7, 1)) % 10)
            + 10 * (instr(places, substring(code, 8, 1)) % 10)
            + 9 * (instr(places, substring(code, 10, 1)) % 10)
            + 8 * (instr(places, substring(code, 11, 1)) % 10)
            + 7 * (instr(places, substring(code, 12, 1)) % 10)
            + 6 * (instr(places, substring(code, 13, 1)) % 10)
            + 5 * (instr(places, substring(code, 14, 1)) % 10)
            + 4 * (instr(places, substring(code, 15, 1)) % 10)
            + 3 * (instr(places, substring(code, 16, 1)) % 10)
            + 2 * (instr(places, substring(code, 17, 1)) % 10)
        ) % 11 as remainder
    from parts
),
dated as (
    select
        *,
        substring(code, 9, 1) = case when remainder = 10 then 'X' else cast(remainder as string) end as check_digit_ok,
        -- the code of a year comes back after 30 years
        case
            when is_north_american and (vehicle_type_id = 1 or known_year is null)
            then case when regexp_matches(substring(code, 7, 1), '[0-9]') then first_year else first_year + 30 end
            when coalesce(known_year - first_year > 15, first_year + 30 <= year_now + 1) then first_year + 30
            else first_year
        end as model_year,
        -- Korea and China ask for the year; elsewhere a right check digit shows that a car was built for North America
        is_north_american or check_digit_ok or regexp_matches(code, '^[KL]') as tells_year,
        is_north_american and vehicle_type_id = 1 as tells_cycle
    from summed
),
compared as (
    select
        dated.*,
        makers.manufacturer,
        makers.country_code,
        case when makers.wmi is not null and known_makes.make is not null then makes.make is not null end
            as agrees_with_make,
        case when dated.tells_year then dated.model_year = dated.year end as agrees_with_year
    from dated
    left join makers on makers.wmi = dated.wmi
    left join known_makes on known_makes.make = dated.make
    left join makes on makes.wmi = dated.wmi and makes.make = dated.make
)
select
    vehicle_id,
    vin,
    code is not null as is_valid,
    check_digit_ok,
    wmi,
    manufacturer,
    country_code,
    cast(model_year as bigint) as model_year,
    tells_year,
    tells_cycle,
    substring(code, 11, 1) as plant_code,
    substring(code, 12, 6) as serial,
    agrees_with_make,
    agrees_with_year,
    case
        when length(vin) <> 17 then 'length'
        when code is null then 'characters'
        when replace(code, left(code, 1), '') = '' then 'placeholder'
        when is_north_american and not check_digit_ok then 'check_digit'
        when not agrees_with_make then 'make'
        when not agrees_with_year then 'year'
    end as reason
from compared
