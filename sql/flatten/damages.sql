select
    id as damage_id,
    name,
    code,
    _extra as extra
from records
