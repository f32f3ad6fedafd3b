select
    _list as country,
    id as state_id,
    name,
    coalesce(code, state_code) as code,
    _extra as extra
from records
