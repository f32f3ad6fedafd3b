-- Functions of the models, for DuckDB. Spark has the same ones in values.spark.sql.

-- An amount in cents, as it is shown.
create macro if not exists money(amount) as round(amount * 100) / 100;

-- Source 12 lists cars at asking prices and holds no auctions.
create macro if not exists is_auction(domain_id) as domain_id <> 12;

-- An amount that can be a price, in any currency; otherwise null. 999,999 stands for one that is not known.
create macro if not exists plausible_price(amount) as
    case when amount between 1 and 5000000 and floor(amount) <> 999999 then amount end;

-- A model year that a car can have: after 1900, which stands for an unknown one, until that after this year; otherwise null.
create macro if not exists plausible_year(given, this_year) as case when given between 1901 and this_year + 1 then given end;

-- Half the width of a 95 % interval, from a standard deviation.
create macro if not exists margin_95(deviation) as 1.96 * deviation;

-- The standard deviation of the logarithm of a ratio, from its 95 % interval.
create macro if not exists deviation_95(low, high) as ln(high / low) / 3.92;

-- The class of a price or estimate, in its currency.
create macro if not exists price_band(amount) as case
    when amount < 1000 then 'below 1,000'
    when amount < 3000 then '1,000 to 2,999'
    when amount < 10000 then '3,000 to 9,999'
    when amount < 30000 then '10,000 to 29,999'
    when amount is not null then '30,000 and more'
end;

-- A name as spellings are compared: in lower case, without spaces and hyphens.
create macro if not exists plain_name(name) as replace(replace(lower(trim(name)), ' ', ''), '-', '');

-- By ISO 3779 the first eight characters of a VIN tell make, model and engine, and in North America the tenth the model year.
create macro if not exists head_of_vin(vin) as left(vin, 8) || substring(vin, 10, 1);

-- The volume of an engine by its name, such as 2.0l 4, in cubic centimetres; null for a name without one.
create macro if not exists engine_cm3(engine) as
    cast(round(1000 * try_cast(replace(regexp_extract(lower(engine), '([0-9]{1,2}[.,][0-9]) ?l', 1), ',', '.') as double)) as bigint);

-- The day (UTC) of a date or instant. DuckDB's cast from an instant asks the rules of the time zone, which takes 17 times as
-- long; which branch holds is known from the type, before any row is read.
create macro if not exists day_of(moment) as case
    when typeof(moment) = 'DATE' then cast(moment as date)
    else cast(make_timestamp(epoch_us(cast(moment as timestamptz))) as date)
end;

-- A date of the feed that can be; otherwise null. No source had lots before 1990. The last day is in dim_settings.
create macro if not exists plausible_date(moment, last_day) as
    case when day_of(moment) between date '1990-01-01' and last_day then moment end;

-- The date of an event in the life of a car, such as its registration, if it can be; otherwise null.
create macro if not exists plausible_event_date(moment, last_day) as
    case when day_of(moment) between date '1900-01-01' and last_day then moment end;

-- Calendar days (UTC) from one date or instant to another.
create macro if not exists days_between(earlier, later) as cast(day_of(later) - day_of(earlier) as bigint);

-- The first day of the month (UTC) of a date or instant.
create macro if not exists month_of(moment) as cast(date_trunc('month', day_of(moment)) as date);

-- Address of the page of a lot at its source; null if the feed does not give its number there.
create macro if not exists page_of_lot(domain_id, lot, external_id) as case
    when domain_id = 1 and regexp_full_match(external_id, '\d+~[A-Z]+') then 'https://www.iaai.com/VehicleDetail/' || external_id
    when domain_id = 3 and regexp_full_match(lot, '\d+') then 'https://www.copart.com/lot/' || lot
    when domain_id = 12 and regexp_full_match(lot, '\d+') then 'https://fem.encar.com/cars/detail/' || lot
end;

-- Whole seconds since 1970, spelled so that DuckDB and Spark count alike.
create macro if not exists second_of(moment) as cast(cast(moment as date) - date '1970-01-01' as bigint) * 86400
    + extract(hour from moment) * 3600
    + extract(minute from moment) * 60
    + cast(extract(second from moment) as bigint);

-- The first text of a list; null for an empty one.
create macro if not exists first_text(texts) as texts[1];
