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
    case json_type(exterior)
        when 'ARRAY' then cast(exterior as varchar[])
        when 'VARCHAR' then [exterior ->> '$']
        else case when json_type(exterior) <> 'NULL' then [cast(exterior as varchar)] end
    end as exterior,
    case json_type(interior)
        when 'ARRAY' then cast(interior as varchar[])
        when 'VARCHAR' then [interior ->> '$']
        else case when json_type(interior) <> 'NULL' then [cast(interior as varchar)] end
    end as interior,
    _month as _month_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from "lots[].images"
