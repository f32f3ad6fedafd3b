select
    id as default_option_id,
    code,
    name,
    name_original,
    section,
    section_name,
    sort,
    location,
    description,
    image,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
