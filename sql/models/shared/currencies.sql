with source_places as (
    select domain_id, country_code as country_iso, lots from dim_places
    union all
    -- the archive feed names no country, so sales may need a currency that no lot does
    select domain_id, 'unknown', 0 from dim_sources
),
places as (
    select domain_id, country_iso, cast(sum(lots) as bigint) as lots from source_places group by all
)
-- a rule for the country comes before the rule for all countries
select
    places.domain_id,
    dim_sources.domain_name,
    places.country_iso,
    case when own.certainty is not null then own.currency else general.currency end as currency,
    coalesce(own.certainty, general.certainty, 'unknown') as certainty,
    coalesce(own.reason, general.reason, 'No row of currency_rules speaks of it.') as reason,
    places.lots
from places
left join dim_sources on dim_sources.domain_id = places.domain_id
left join currency_rules as own on own.domain_id = places.domain_id and own.country_iso = places.country_iso
left join currency_rules as general on general.domain_id = places.domain_id and general.country_iso = '*'
