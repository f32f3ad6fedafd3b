-- The functions of report_dates.sql for Spark.

create or replace temporary function date_instant(given string) returns timestamp
    return cast(given || case length(given) when 4 then '-01-01' when 7 then '-01' else '' end as timestamp);

create or replace temporary function date_offset(given string) returns bigint
    return case
        when length(given) > 19 and given rlike '(Z|[+-][0-9]{2}(:?[0-9]{2})?)$'
        then unix_seconds(cast(left(given, 16) as timestamp)) div 60
            - cast(floor(unix_seconds(date_instant(given)) / 60) as bigint)
    end;

create or replace temporary function date_local(given string, said string default 'datetime') returns string
    return case
        when length(given) = 4 or trim(said) = 'year' then left(given, 4)
        when length(given) = 7 or trim(said) = 'month' then left(given, 7)
        when trim(said) = 'day' or length(given) = 10 and trim(said) = 'datetime' then left(given, 10)
        when trim(said) = 'datetime'
        then left(given, 10) || 'T' || case length(given) when 16 then right(given, 5) || ':00' else substr(given, 12, 8) end
    end;
