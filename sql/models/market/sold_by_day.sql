with counted as (
    select
        level,
        domain_id,
        kind,
        manufacturer_id,
        model_id,
        title_brand,
        estimate_band,
        count(*) as lots,
        count(*) filter (where watch_ended = 'sold') as lots_sold,
        count(*) filter (where watch_ended = 'left') as lots_left
    from lots_by_level
    where first_age is not null
    group by all
),
days as (
    select day from (values (7), (14), (30), (60), (90), (180)) as days (day)
),
shares as (
    -- an age of a curve stands until the next one
    select sold_curves.*, days.day
    from sold_curves
    inner join days on days.day >= sold_curves.age and days.day < coalesce(sold_curves.until_age, 181)
    where is_known
)
select
    level,
    domain_id,
    domain_name,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    title_brand,
    estimate_band,
    days.day,
    lots,
    lots_sold,
    lots_left,
    sold,
    sold_low,
    sold_high,
    sold_at_most,
    sold_at_most_low,
    sold_at_most_high,
    left_unsold,
    left_unsold_low,
    left_unsold_high,
    open
from counted
cross join days
left join shares using (level, domain_id, kind, day)
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
where enough(lots)
