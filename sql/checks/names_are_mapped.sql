-- description: The seeds of names know the damages, titles, countries, states and types of sellers of all but 2 % of the lots that name one.
-- severity: warn
with countries_known as (
    select distinct country_code from country_codes
),
states_known as (
    select distinct country_code, state_code from state_codes
),
named as (
    select
        'damage_groups' as seed,
        sum(main_lots) as lots,
        sum(case when damage_group = 'unmapped' then main_lots else 0 end) as unmapped
    from dim_damages
    where damage_name <> 'unknown'
    union all
    select
        'title_brands' as seed,
        sum(lots) as lots,
        sum(case when title_brand = 'unmapped' then lots else 0 end) as unmapped
    from dim_titles
    where title_name <> 'unknown' or detailed_title_name <> 'unknown'
    union all
    select
        'country_codes' as seed,
        sum(dim_places.lots) as lots,
        sum(case when countries_known.country_code is null then dim_places.lots else 0 end) as unmapped
    from dim_places
    left join countries_known on countries_known.country_code = dim_places.country_code
    where dim_places.country <> 'unknown'
    union all
    select
        'state_codes' as seed,
        sum(dim_places.lots) as lots,
        sum(case when states_known.state_code is null then dim_places.lots else 0 end) as unmapped
    from dim_places
    left join states_known
        on states_known.country_code = dim_places.country_code and states_known.state_code = dim_places.state_code
    where dim_places.state <> 'unknown'
    union all
    select
        'seller_groups' as seed,
        count(*) as lots,
        sum(case when seller_group = 'unmapped' then 1 else 0 end) as unmapped
    from lot_groups
    where seller_type <> 'unknown'
)
select seed, lots, unmapped
from named
where unmapped > 0.02 * lots
