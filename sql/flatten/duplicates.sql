select
    duplicate_id,
    original_id,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
