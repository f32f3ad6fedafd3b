select
    id as title_id,
    name,
    code,
    _extra as extra
from records
