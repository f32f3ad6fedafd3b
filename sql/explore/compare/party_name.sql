-- The seller or branch that a name means: the same, else the one that has it as a part and offers most.
select party_name
from offer_profiles
where level = $level and contains(lower(party_name), lower($name))
group by party_name
order by lower(party_name) = lower($name) desc, sum(offered) desc, party_name
limit 1
