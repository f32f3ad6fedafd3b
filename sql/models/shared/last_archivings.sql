with dated_archivings as (
    select
        lot_id,
        vehicle_id,
        domain_id,
        upper(trim(vin)) as vin,
        status_id,
        final_bid,
        buy_now,
        plausible_date(archived_at, last_day) as archived_at,
        plausible_date(sale_date, last_day) as sale_date,
        plausible_date(final_bid_updated_at, last_day) as final_bid_updated_at
    from archived_lots
    cross join dim_settings
),
archivings as (
    select *, row_number() over (partition by lot_id order by archived_at desc nulls last) as recency
    from dated_archivings
)
select
    lot_id,
    vehicle_id,
    -- where the source of no archived lot is known, the folders of the table give the column no type
    cast(domain_id as bigint) as domain_id,
    vin,
    status_id,
    final_bid,
    buy_now,
    archived_at,
    sale_date,
    final_bid_updated_at
from archivings
where recency = 1
