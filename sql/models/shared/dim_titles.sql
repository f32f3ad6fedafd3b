with titles as (
    select
        coalesce(nullif(trim(title_name), ''), 'unknown') as title_name,
        coalesce(nullif(trim(detailed_title_name), ''), 'unknown') as detailed_title_name,
        count(*) as lots
    from lots
    group by all
),
names as (
    select title_name as name from titles
    union
    select detailed_title_name from titles
),
matches as (
    select
        name,
        title_brand,
        row_number() over (partition by name order by title_brands.rank nulls last, pattern nulls last) as place
    from names
    inner join title_brands on lower(name) like pattern
),
brands as (
    select name, title_brand from matches where place = 1
)
-- the detailed title decides: Clean Title stands beside a restored salvage title
select
    title_name,
    detailed_title_name,
    coalesce(
        nullif(detailed.title_brand, 'unknown'),
        short.title_brand,
        detailed.title_brand,
        case when title_name = 'unknown' and detailed_title_name = 'unknown' then 'unknown' else 'unmapped' end
    ) as title_brand,
    lots
from titles
left join brands as detailed on detailed.name = detailed_title_name
left join brands as short on short.name = title_name
