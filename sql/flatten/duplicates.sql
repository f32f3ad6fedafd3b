select
    duplicate_id,
    original_id,
    _extra as extra
from records
