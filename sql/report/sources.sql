-- The sources that have lots.
select distinct domain_id, domain_name from inventory_daily order by domain_id
