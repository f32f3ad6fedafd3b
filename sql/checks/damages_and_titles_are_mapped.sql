-- description: The seeds damage_groups and title_brands know the damages and titles of all but 2 % of the lots that name one.
-- severity: warn
with named as (
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
)
select seed, lots, unmapped
from named
where unmapped > 0.02 * lots
