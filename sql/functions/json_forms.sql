-- Functions that read fields which come in several forms (contract/field.ts, formKind), for sql/flatten.

-- The whole value as JSON text.
create or replace temp macro json_text(given) as given::varchar;

-- What a field says that comes as a plain value, or as an object with its time: {"value": 7875, "updated_at": "..."}.
create or replace temp macro value_of(given) as
    case json_type(given) when 'OBJECT' then given ->> '$.value' else given ->> '$' end;
create or replace temp macro updated_at_of(given) as case json_type(given) when 'OBJECT' then given ->> '$.updated_at' end;

-- A plain value as text; null for an object.
create or replace temp macro plain_of(given) as case when json_type(given) <> 'OBJECT' then given ->> '$' end;

-- A text; null for anything else.
create or replace temp macro text_of(given) as case when json_type(given) = 'VARCHAR' then given ->> '$' end;

-- A whole number; null for anything else.
create or replace temp macro integer_of(given) as
    case when json_type(given) in ('UBIGINT', 'BIGINT') then given::bigint end;

-- The texts of a list, or one text as a list; null for anything else.
create or replace temp macro texts_of(given) as
    case json_type(given) when 'ARRAY' then given::varchar[] when 'VARCHAR' then [given ->> '$'] end;

-- The same, with any other value as a list of its JSON text.
create or replace temp macro all_texts_of(given) as
    coalesce(texts_of(given), case when json_type(given) <> 'NULL' then [given::varchar] end);

-- The members of an object; null for anything else.
create or replace temp macro named_object(given) as json_transform(given, '{"id":"BIGINT","name":"VARCHAR"}');
create or replace temp macro seller_object(given) as
    json_transform(given, '{"id":"BIGINT","name":"VARCHAR","logo":"VARCHAR","is_insurance":"BOOLEAN","is_rental":"BOOLEAN","is_credit_company":"BOOLEAN"}');
create or replace temp macro branch_object(given) as
    json_transform(given, '{"id":"BIGINT","name":"VARCHAR","number":"VARCHAR","link":"VARCHAR","domain_id":"BIGINT"}');
