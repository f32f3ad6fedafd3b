-- description: The shares of the damages of a model add to 1.
-- severity: error
select
    domain_id,
    manufacturer_id,
    model_id,
    sum(share) as shares
from damage_breakdown
group by domain_id, manufacturer_id, model_id
having abs(sum(share) - 1) > 0.000001
