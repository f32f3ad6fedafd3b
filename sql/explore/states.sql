-- The codes of states by their names.
select lower(state_name) as name, state_code as code
from regional_prices
where level = 'state' and state_name is not null and state_code is not null
