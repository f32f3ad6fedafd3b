select
    coalesce(state_id, _list::bigint) as state_id,
    id as city_id,
    name,
    code,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
