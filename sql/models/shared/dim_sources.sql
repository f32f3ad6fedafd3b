select domain_id, max(trim(domain_name)) as domain_name
from lots
where domain_id is not null
group by all
