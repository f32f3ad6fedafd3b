-- description: Every lot of price_ratios has the same price in sales, and no model year has more lots there than in sales.
-- severity: error
select
    price_ratios.lot_id,
    price_ratios.price,
    sales.price as sales_price
from price_ratios
left join sales on sales.lot_id = price_ratios.lot_id and sales.attempt = price_ratios.attempt
where sales.price is null or sales.price <> price_ratios.price
