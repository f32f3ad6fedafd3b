with places as (
    select
        domain_id,
        coalesce(
            nullif(upper(trim(location_country_iso)), ''), nullif(upper(trim(location_country_name)), ''), 'unknown'
        ) as country,
        coalesce(
            nullif(upper(trim(location_state_code)), ''), nullif(upper(trim(location_state_name)), ''), 'unknown'
        ) as state,
        count(*) as lots
    from lots
    group by all
),
countries as (
    -- if two spellings of a name have different codes, the alphabetically last one counts
    select upper(trim(country_name)) as country, max(country_code) as own_code from country_codes group by all
),
state_names as (
    select country_code, upper(trim(state_name)) as state, state_code from state_codes
    union all
    select country_code, state_code, state_code from state_codes
),
states as (
    select country_code, state, max(state_code) as own_state from state_names group by all
),
placed as (
    select places.*, coalesce(own_code, country) as country_code
    from places
    left join countries using (country)
)
select domain_id, country, state, country_code, coalesce(own_state, state) as state_code, lots
from placed
left join states using (country_code, state)
