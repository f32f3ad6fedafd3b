select
    _lot_id as lot_id,
    _vehicle_id as vehicle_id,
    _domain_id as domain_id,
    id as images_id,
    video,
    video_youtube_id,
    external_panorama_url,
    small,
    normal,
    big,
    downloaded,
    all_texts_of(exterior) as exterior,
    all_texts_of(interior) as interior,
    _month as _month_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from "lots[].images"
