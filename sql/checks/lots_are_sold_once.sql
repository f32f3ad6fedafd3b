-- description: A lot has one sale at most, and no attempt after it.
-- severity: error
select
    sold.lot_id,
    sold.attempt,
    other.attempt as later_attempt
from sales as sold
inner join sales as other on other.lot_id = sold.lot_id and other.attempt > sold.attempt
where sold.outcome = 'sold'
