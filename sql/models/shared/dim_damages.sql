with source_lots as (
    select
        coalesce(nullif(trim(damage_main_name), ''), 'unknown') as damage_main,
        coalesce(nullif(trim(damage_second_name), ''), 'unknown') as damage_second
    from lots
),
names as (
    select damage_main as damage_name, count(*) as main_lots, 0 as second_lots from source_lots group by damage_main
    union all
    select damage_second as damage_name, 0 as main_lots, count(*) as second_lots from source_lots group by damage_second
),
counted as (
    select
        damage_name,
        replace(replace(replace(replace(lower(damage_name), ' ', ''), '/', ''), '-', ''), 'damage', '') as spelling,
        cast(sum(main_lots) as bigint) as main_lots,
        cast(sum(second_lots) as bigint) as second_lots
    from names
    group by damage_name
),
spelled as (
    select
        replace(replace(replace(replace(lower(damage_name), ' ', ''), '/', ''), '-', ''), 'damage', '') as spelling,
        trim(damage_group) as damage_group
    from damage_groups
),
groups as (
    -- if two spellings of a name have different groups, the alphabetically last one counts
    select spelling, max(damage_group) as damage_group from spelled group by spelling
),
final as (
    select
        counted.damage_name,
        coalesce(groups.damage_group, case when counted.damage_name = 'unknown' then 'unknown' else 'unmapped' end)
            as damage_group,
        counted.main_lots,
        counted.second_lots
    from counted
    left join groups on groups.spelling = counted.spelling
)
select * from final
