-- description: The lot of every attempt is in lots, or in archived_lots alone if the evidence is archive_only.
-- severity: error
with told as (
    select distinct lot_id from archived_lots
),
final as (
    select
        sales.lot_id,
        sales.attempt,
        sales.evidence,
        lots.lot_id is not null as is_in_lots,
        told.lot_id is not null as is_in_archived_lots
    from sales
    left join lots on lots.lot_id = sales.lot_id
    left join told on told.lot_id = sales.lot_id
)
select * from final
where is_in_lots = (evidence = 'archive_only') or (evidence = 'archive_only' and not is_in_archived_lots)
