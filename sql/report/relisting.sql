-- What share of the lots that reach an attempt are sold at it.
select *, sell_through as value
from sell_through
where attempt <= 6
order by attempt, domain_id
