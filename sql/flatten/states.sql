select
    _list as country,
    id as state_id,
    name,
    coalesce(code, state_code) as code,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
