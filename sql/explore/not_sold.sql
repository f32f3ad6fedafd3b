-- The last auction of a vehicle that did not sell it.
select cast(cast(sale_date as date) as varchar) as day, domain_name as source
from sales
where vehicle_id = $vehicle_id and outcome = 'not_sold'
order by sale_date desc nulls last, lot_id desc, attempt desc
limit 1
