-- The last sale of a vehicle, or of a lot without one. Its amount is no price where there is a doubt.
select
    cast(cast(sale_date as date) as varchar) as sold_on,
    amount,
    currency,
    case when trust_basis = 'buy_now' then 'buy_now' else 'auction' end as sold_by,
    domain_name as source,
    lot_id,
    case when is_outlier then outlier_reason when not is_trusted then trust_reason end as doubt
from sales
where case when $vehicle_id is null then lot_id = $lot else vehicle_id = $vehicle_id end and outcome = 'sold'
order by sale_date desc, lot_id desc, attempt desc
limit 1
