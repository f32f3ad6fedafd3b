-- description: The lot of every price and image is known.
-- severity: error
with children as (
    select 'prices' as child, lot_id from prices
    union all
    select 'lot_images' as child, lot_id from lot_images
),
final as (
    select
        children.child,
        children.lot_id
    from children
    left join lots on lots.lot_id = children.lot_id
    where lots.lot_id is null
)
select * from final
