-- description: A vehicle has no new offer within the days after a sale in which the sale must hold.
-- severity: error
with final as (
    select
        sold.lot_id,
        sold.vehicle_id,
        sold.sale_date,
        other.lot_id as later_lot_id,
        other.sale_date as later_sale_date
    from sales as sold
    inner join sales as other on other.vehicle_id = sold.vehicle_id and other.lot_id <> sold.lot_id
    cross join dim_settings as settings
    where sold.outcome = 'sold'
        and (other.sale_date > sold.sale_date or (other.sale_date = sold.sale_date and other.lot_id > sold.lot_id))
        and days_between(sold.sale_date, other.sale_date) <= settings.relisting_days
)
select * from final
