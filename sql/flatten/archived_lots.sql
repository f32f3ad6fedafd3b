select
    lot_id,
    archived_at,
    car_id as vehicle_id,
    domain.id as domain_id,
    domain.name as domain_name,
    vin,
    lot,
    status.id as status_id,
    status.name as status_name,
    case json_type(bid) when 'OBJECT' then cast(bid ->> '$.value' as double) else cast(bid ->> '$' as double) end as bid,
    case json_type(buy_now) when 'OBJECT' then cast(buy_now ->> '$.value' as double) else cast(buy_now ->> '$' as double) end as buy_now,
    case json_type(final_bid) when 'OBJECT' then cast(final_bid ->> '$.value' as double) else cast(final_bid ->> '$' as double) end as final_bid,
    case json_type(sale_date) when 'OBJECT' then cast(sale_date ->> '$.value' as timestamptz) else cast(sale_date ->> '$' as timestamptz) end as sale_date,
    case json_type(bid) when 'OBJECT' then cast(bid ->> '$.updated_at' as timestamptz) end as bid_updated_at,
    case json_type(buy_now) when 'OBJECT' then cast(buy_now ->> '$.updated_at' as timestamptz) end as buy_now_updated_at,
    coalesce(
        case json_type(final_bid) when 'OBJECT' then cast(final_bid ->> '$.updated_at' as timestamptz) end,
        final_bid_updated_at
    ) as final_bid_updated_at,
    case json_type(sale_date) when 'OBJECT' then cast(sale_date ->> '$.updated_at' as timestamptz) end as sale_date_updated_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
