-- Active vehicles by source.
select domain_id, count(distinct vehicle_id) as vehicles from lots where not archived group by domain_id
