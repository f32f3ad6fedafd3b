select
    id as title_id,
    name,
    code,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
