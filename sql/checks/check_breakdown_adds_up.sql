-- description: The shares of the results of a type add to 1.
-- severity: error
select domain_id, type_key, sum(share) as shares
from check_breakdown
group by domain_id, type_key
having abs(sum(share) - 1) > 0.000001
