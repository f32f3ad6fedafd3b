-- What share of the lots that reach an attempt are sold at it.
select *, sold_share as value
from relisting
where attempt <= 6
order by attempt, domain_id
