with source_titles as (
    select
        coalesce(nullif(trim(title_name), ''), 'unknown') as title_name,
        coalesce(nullif(trim(detailed_title_name), ''), 'unknown') as detailed_title_name,
        count(*) as lots
    from lots
    group by coalesce(nullif(trim(title_name), ''), 'unknown'), coalesce(nullif(trim(detailed_title_name), ''), 'unknown')
),
names as (
    select title_name as name from source_titles
    union
    select detailed_title_name as name from source_titles
),
matches as (
    select
        names.name,
        title_brands.title_brand,
        row_number() over (partition by names.name order by title_brands.rank nulls last, title_brands.pattern nulls last) as place
    from names
    inner join title_brands on lower(names.name) like title_brands.pattern
),
brands as (
    select name, title_brand from matches where place = 1
),
final as (
    -- the detailed title decides: Clean Title stands beside a restored salvage title
    select
        source_titles.title_name,
        source_titles.detailed_title_name,
        coalesce(
            nullif(detailed.title_brand, 'unknown'),
            short.title_brand,
            detailed.title_brand,
            case
                when source_titles.title_name = 'unknown' and source_titles.detailed_title_name = 'unknown' then 'unknown'
                else 'unmapped'
            end
        ) as title_brand,
        source_titles.lots
    from source_titles
    left join brands as detailed on detailed.name = source_titles.detailed_title_name
    left join brands as short on short.name = source_titles.title_name
)
select * from final
