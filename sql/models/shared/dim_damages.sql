with names as (
    select coalesce(nullif(trim(damage_main_name), ''), 'unknown') as damage_name, 1 as main_lots, 0 as second_lots from lots
    union all
    select coalesce(nullif(trim(damage_second_name), ''), 'unknown'), 0, 1 from lots
),
counted as (
    select
        damage_name,
        replace(replace(replace(replace(lower(damage_name), ' ', ''), '/', ''), '-', ''), 'damage', '') as spelling,
        cast(sum(main_lots) as bigint) as main_lots,
        cast(sum(second_lots) as bigint) as second_lots
    from names
    group by all
),
spellings as (
    -- if two spellings of a name have different groups, the alphabetically last one counts
    select
        replace(replace(replace(replace(lower(damage_name), ' ', ''), '/', ''), '-', ''), 'damage', '') as spelling,
        max(trim(damage_group)) as damage_group
    from damage_groups
    group by all
)
select
    damage_name,
    coalesce(damage_group, case when damage_name = 'unknown' then 'unknown' else 'unmapped' end) as damage_group,
    main_lots,
    second_lots
from counted
left join spellings using (spelling)
