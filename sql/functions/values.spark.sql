-- Functions of the models, for Spark. DuckDB has the same ones in values.sql.

create temporary function money(amount double) returns double return round(amount * 100) / 100;

create temporary function is_auction(domain_id bigint) returns boolean return domain_id <> 12;

create temporary function plausible_price(amount double) returns double
    return case when amount between 1 and 5000000 and floor(amount) <> 999999 then amount end;

create temporary function plausible_year(given bigint, this_year bigint) returns bigint
    return case when given between 1901 and this_year + 1 then given end;

create temporary function margin_95(deviation double) returns double return 1.96D * deviation;

create temporary function deviation_95(low double, high double) returns double return ln(high / low) / 3.92D;

create temporary function price_band(amount double) returns string return case
    when amount < 1000 then 'below 1,000'
    when amount < 3000 then '1,000 to 2,999'
    when amount < 10000 then '3,000 to 9,999'
    when amount < 30000 then '10,000 to 29,999'
    when amount is not null then '30,000 and more'
end;

create temporary function plain_name(name string) returns string
    return replace(replace(lower(trim(name)), ' ', ''), '-', '');

create temporary function head_of_vin(vin string) returns string return left(vin, 8) || substring(vin, 10, 1);

create temporary function engine_cm3(engine string) returns bigint
    return cast(round(1000 * try_cast(replace(regexp_extract(lower(engine), '([0-9]{1,2}[.,][0-9]) ?l', 1), ',', '.') as double)) as bigint);

create temporary function day_of(moment timestamp) returns date return cast(moment as date);

create temporary function days_between(earlier timestamp, later timestamp) returns bigint
    return cast(datediff(cast(later as date), cast(earlier as date)) as bigint);

create temporary function plausible_date(moment timestamp, last_day date) returns timestamp
    return case when cast(moment as date) between date '1990-01-01' and last_day then moment end;

create temporary function plausible_event_date(moment timestamp, last_day date) returns timestamp
    return case when cast(moment as date) between date '1900-01-01' and last_day then moment end;

create temporary function month_of(moment timestamp) returns date
    return cast(date_trunc('month', cast(moment as date)) as date);

create temporary function page_of_lot(domain_id bigint, lot string, external_id string) returns string return case
    when domain_id = 1 and external_id rlike '^[0-9]+~[A-Z]+$' then concat('https://www.iaai.com/VehicleDetail/', external_id)
    when domain_id = 3 and lot rlike '^[0-9]+$' then concat('https://www.copart.com/lot/', lot)
    when domain_id = 12 and lot rlike '^[0-9]+$' then concat('https://fem.encar.com/cars/detail/', lot)
end;

create temporary function second_of(moment timestamp) returns bigint return cast(datediff(cast(moment as date), date '1970-01-01') as bigint) * 86400
    + extract(hour from moment) * 3600
    + extract(minute from moment) * 60
    + cast(extract(second from moment) as bigint);

create temporary function first_text(texts array<string>) returns string return try_element_at(texts, 1);
