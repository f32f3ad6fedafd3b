-- Functions that read the text of a report's date (contract/field.ts, reportDate), for sql/flatten. A date is a timestamp
-- with or without an offset, a day, a month such as 2019-05, or a year such as 2019.

-- The instant. A day, month or year gives its start. A text without an offset is in UTC.
create or replace temp macro date_instant(given) as
    (given || case length(given) when 4 then '-01-01' when 7 then '-01' else '' end)::timestamptz;

-- Minutes by which the local time is ahead of UTC; null if the text has no offset.
create or replace temp macro date_offset(given) as
    case
        when length(given) > 19 and regexp_matches(given, '(Z|[+-][0-9]{2}(:?[0-9]{2})?)$')
        then date_diff('minute', date_instant(given)::timestamp, left(given, 16)::timestamp)
    end;

-- The known part of the local time: 2019, 2019-05, 2019-05-17 or 2019-05-17T08:30:00. The precision is the coarser of the
-- text and the report's date_precision_key. Null if the key says nothing and the text has a day.
create or replace temp macro date_local(given, said := 'datetime') as
    case
        when length(given) = 4 or trim(said) = 'year' then left(given, 4)
        when length(given) = 7 or trim(said) = 'month' then left(given, 7)
        when trim(said) = 'day' or length(given) = 10 and trim(said) = 'datetime' then left(given, 10)
        when trim(said) = 'datetime'
        then left(given, 10) || 'T' || case length(given) when 16 then right(given, 5) || ':00' else substr(given, 12, 8) end
    end;
