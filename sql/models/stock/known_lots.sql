with archived_alone as (
    select
        archived_lots.lot_id,
        archived_lots.vehicle_id,
        cast(max(archived_lots.domain_id) as bigint) as domain_id,
        max(trim(archived_lots.lot)) as lot
    from archived_lots
    -- asked so, one vehicle reads little of lots
    where archived_lots.vehicle_id is not null
        and not exists (select 1 from lots where lots.lot_id = archived_lots.lot_id)
    group by all
)
select
    lots.lot_id,
    lots.vehicle_id,
    lots.domain_id,
    trim(lots.lot) as lot,
    lot_groups.currency
from lots
inner join lot_groups on lot_groups.lot_id = lots.lot_id
where lots.vehicle_id is not null
union all
select lot_id, vehicle_id, archived_alone.domain_id, lot, currency
from archived_alone
left join currencies on currencies.domain_id = archived_alone.domain_id and currencies.country_iso = 'unknown'
