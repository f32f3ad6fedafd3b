with named_lots as (
    select
        lot_id,
        vehicle_id,
        domain_id,
        coalesce(
            nullif(upper(trim(location_country_iso)), ''), nullif(upper(trim(location_country_name)), ''), 'unknown'
        ) as country,
        coalesce(
            nullif(upper(trim(location_state_code)), ''), nullif(upper(trim(location_state_name)), ''), 'unknown'
        ) as state,
        coalesce(nullif(trim(damage_main_name), ''), 'unknown') as damage_main,
        coalesce(nullif(trim(damage_second_name), ''), 'unknown') as damage_second,
        coalesce(nullif(trim(title_name), ''), 'unknown') as title_name,
        coalesce(nullif(trim(detailed_title_name), ''), 'unknown') as detailed_title_name,
        case seller_type_id
            when 1 then 'insurance'
            when 2 then 'non_insurance'
            else coalesce(nullif(lower(trim(seller_type_name)), ''), 'unknown')
        end as seller_type,
        case
            when seller_is_insurance then 'insurance'
            when seller_is_rental then 'rental'
            when seller_is_credit_company then 'finance'
        end as seller_kind,
        replace(replace(replace(seller_type, ' ', ''), '-', ''), '_', '') as spelling
    from lots
),
type_groups as (
    select
        replace(replace(replace(lower(seller_type), ' ', ''), '-', ''), '_', '') as spelling,
        max(trim(seller_group)) as seller_group
    from seller_groups
    group by all
)
select
    lot_id,
    vehicle_id,
    named_lots.domain_id,
    country_code,
    state_code,
    currency,
    damage_main,
    main_damages.damage_group as damage_main_group,
    damage_second,
    second_damages.damage_group as damage_second_group,
    -- a lot without a stated main damage may have any damage; one without a stated second damage may have only one
    main_damages.damage_group in ('none', 'normal_wear', 'minor_dents')
        and second_damages.damage_group in ('none', 'normal_wear', 'minor_dents', 'unknown') as is_sound,
    title_name,
    title_brand,
    seller_type,
    -- the type knows insurers and others; what the feed says of the seller itself tells more
    case
        when seller_group = 'insurance' then 'insurance'
        else coalesce(seller_kind, seller_group, case when seller_type = 'unknown' then 'unknown' else 'unmapped' end)
    end as seller_group
from named_lots
inner join dim_places
    on dim_places.domain_id is not distinct from named_lots.domain_id
    and dim_places.country = named_lots.country
    and dim_places.state = named_lots.state
left join currencies
    on currencies.domain_id = named_lots.domain_id and currencies.country_iso = country_code
inner join dim_damages as main_damages on main_damages.damage_name = damage_main
inner join dim_damages as second_damages on second_damages.damage_name = damage_second
inner join dim_titles using (title_name, detailed_title_name)
left join type_groups using (spelling)
