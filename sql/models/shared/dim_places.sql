with source_places as (
    select
        domain_id,
        coalesce(
            nullif(upper(trim(location_country_iso)), ''), nullif(upper(trim(location_country_name)), ''), 'unknown'
        ) as country,
        coalesce(
            nullif(upper(trim(location_state_code)), ''), nullif(upper(trim(location_state_name)), ''), 'unknown'
        ) as state
    from lots
),
places as (
    select domain_id, country, state, count(*) as lots from source_places group by domain_id, country, state
),
countries as (
    -- if two spellings of a name have different codes, the alphabetically last one counts
    select upper(trim(country_name)) as country, max(country_code) as country_code
    from country_codes
    group by upper(trim(country_name))
),
state_names as (
    select country_code, upper(trim(state_name)) as state, state_code from state_codes
    union all
    select country_code, state_code as state, state_code from state_codes
),
named_states as (
    select country_code, state, max(state_code) as state_code from state_names group by country_code, state
),
placed as (
    select places.*, coalesce(countries.country_code, places.country) as country_code
    from places
    left join countries on countries.country = places.country
),
final as (
    select
        placed.domain_id,
        placed.country,
        placed.state,
        placed.country_code,
        coalesce(named_states.state_code, placed.state) as state_code,
        placed.lots
    from placed
    left join named_states
        on named_states.country_code = placed.country_code and named_states.state = placed.state
)
select * from final
