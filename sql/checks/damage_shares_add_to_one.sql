-- description: The damage shares of a group add to 1 at each level and in each currency.
-- severity: error
select
    level,
    domain_id,
    manufacturer_id,
    model_id,
    currency,
    sum(share) as shares
from damage_breakdown
group by level, domain_id, manufacturer_id, model_id, currency
having abs(sum(share) - 1) > 0.000001
