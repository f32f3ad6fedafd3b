-- The sellers or branches that a name means, each at its source: the same, else those that have it as a part; the one that offers
-- most first.
select party_name, domain_name
from offer_profiles
where level = $level
    and (contains(lower(party_name), lower($name)) or lower(party_name || ' ' || domain_name) = lower($name))
order by
    lower(party_name || ' ' || domain_name) = lower($name) desc, lower(party_name) = lower($name) desc, offered desc, party_name,
    domain_name
limit 20
