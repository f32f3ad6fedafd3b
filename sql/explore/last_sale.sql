-- The last sale of a vehicle that held. Its amount is no price where there is a doubt.
select sale_date, amount, currency, domain_name, case when is_outlier then outlier_reason when not is_trusted then trust_reason end as doubt
from sales
where vehicle_id = $vehicle_id and outcome = 'sold'
order by sale_date desc nulls last, lot_id desc, attempt desc
limit 1
