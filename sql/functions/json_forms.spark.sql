-- The functions of json_forms.sql for Spark, which reads JSON of any form as text. Load puts the mark U+FDD0 before what is
-- a text in the record, so that it is told from a number or an object.

-- A text as JSON.
create or replace temporary function json_quoted(given string) returns string
    return case when given is not null then substr(to_json(array(given)), 2, length(to_json(array(given))) - 2) end;

-- A text as JSON, with or without its mark.
create or replace temporary function json_of_text(given string) returns string
    return json_quoted(if(startswith(given, '\uFDD0'), substr(given, 2), given));

-- The whole value as JSON text. Spark writes 12345678.5 as 1.23456785E7, and an emoji as two escapes; DuckDB does not.
create or replace temporary function json_text(given string) returns string
    return case
        when startswith(given, '\uFDD0') then json_of_text(given)
        when given rlike '[0-9]E-?[0-9]|\\\\uD[89AB]|":"\uFDD0' then array_join(
            transform(
                regexp_extract_all(given, '"(?:[^"\\\\]|\\\\.)*"|-?[0-9][0-9.]*(?:E-?[0-9]+)?|[^"0-9-]+|-', 0),
                token -> case
                    when startswith(token, '"\uFDD0') then concat('"', substr(token, 3))
                    when token rlike '^".*\\\\uD' then regexp_replace(
                        to_json(from_json(concat('[', token, ']'), 'array<string>')), '^\\[|\\]$', '')
                    when token rlike '^-?[0-9.]+E(?:[0-9]|1[0-9]|20)$'
                    then regexp_replace(cast(cast(token as decimal(38, 16)) as string), '(\\.[0-9]+?)0+$', '$1')
                    when token rlike '^-?[0-9.]+E-[1-6]$'
                    then regexp_replace(cast(cast(token as decimal(38, 24)) as string), '(\\.[0-9]+?)0+$', '$1')
                    when token rlike '^-?[0-9.]+E' then lower(replace(token, '.0E', 'E'))
                    else token
                end),
            '')
        else given
    end;

create or replace temporary function text_of(given string) returns string
    return case when startswith(given, '\uFDD0') then substr(given, 2) end;

create or replace temporary function plain_of(given string) returns string
    return case when not startswith(given, '{') then coalesce(text_of(given), json_text(given)) end;

create or replace temporary function value_of(given string) returns string
    return case when startswith(given, '{') then get_json_object(json_text(given), '$.value') else plain_of(given) end;

create or replace temporary function updated_at_of(given string) returns string
    return case when startswith(given, '{') then get_json_object(json_text(given), '$.updated_at') end;

create or replace temporary function integer_of(given string) returns bigint
    return case when given rlike '^-?[0-9]+$' then cast(given as bigint) end;

create or replace temporary function texts_of(given string) returns array<string>
    return case
        when startswith(given, '[') then from_json(json_text(given), 'array<string>')
        when startswith(given, '\uFDD0') then array(text_of(given))
    end;

create or replace temporary function all_texts_of(given string) returns array<string>
    return coalesce(texts_of(given), case when given is not null then array(json_text(given)) end);

create or replace temporary function named_object(given string) returns struct<id: bigint, name: string>
    return case when startswith(given, '{')
        then cast(from_json(json_text(given), 'id string, name string') as struct<id: bigint, name: string>) end;

create or replace temporary function seller_object(given string)
    returns struct<id: bigint, name: string, logo: string, is_insurance: boolean, is_rental: boolean, is_credit_company: boolean>
    return case when startswith(given, '{')
        then cast(
            from_json(
                json_text(given),
                'id string, name string, logo string, is_insurance string, is_rental string, is_credit_company string')
            as struct<id: bigint, name: string, logo: string, is_insurance: boolean, is_rental: boolean, is_credit_company: boolean>)
    end;

create or replace temporary function branch_object(given string)
    returns struct<id: bigint, name: string, number: string, link: string, domain_id: bigint>
    return case when startswith(given, '{')
        then cast(
            from_json(json_text(given), 'id string, name string, number string, link string, domain_id string')
            as struct<id: bigint, name: string, number: string, link: string, domain_id: bigint>)
    end;
