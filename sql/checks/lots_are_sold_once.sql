-- description: A lot has at most one sale, and no attempt after the sale.
-- severity: error
select
    sold.lot_id,
    sold.attempt,
    other.attempt as later_attempt
from sales as sold
inner join sales as other on other.lot_id = sold.lot_id and other.attempt > sold.attempt
where sold.outcome = 'sold'
