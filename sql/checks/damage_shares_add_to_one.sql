-- description: The damage shares of a model add to 1 in each currency.
-- severity: error
select
    domain_id,
    manufacturer_id,
    model_id,
    currency,
    sum(share) as shares
from damage_breakdown
group by domain_id, manufacturer_id, model_id, currency
having abs(sum(share) - 1) > 0.000001
