with figures as (
    select
        level,
        domain_id,
        kind,
        manufacturer_id,
        model_id,
        title_brand,
        estimate_band,
        observed_from,
        observed_to,
        count(first_age) as lots,
        count(*) filter (where watch_ended = 'sold') as sold,
        count(*) filter (where watch_ended = 'left') as left_lots,
        count(*) filter (where is_sold) as known_sold,
        count(sale_days) as timed_lots,
        median(sale_days) as sold_days_median,
        percentile_cont(0.25) within group (order by sale_days) as sold_days_p25,
        percentile_cont(0.75) within group (order by sale_days) as sold_days_p75,
        percentile_cont(0.9) within group (order by sale_days) as sold_days_p90,
        avg(attempt) as attempts_mean,
        count(vehicle_days) as timed_vehicles,
        median(vehicle_days) as vehicle_days_median,
        avg(vehicle_attempt) as vehicle_attempts_mean,
        count(*) filter (where is_open) as open_lots,
        count(open_days) as timed_open_lots,
        median(open_days) as open_days_median,
        count(*) filter (where is_left) as known_left,
        count(left_days) as timed_left_lots,
        median(left_days) as left_days_median
    from lots_by_level
    group by all
),
reached as (
    -- a share of 1 has no interval; a billionth less, since a share of exactly a half may come out a little below it
    select
        level,
        domain_id,
        kind,
        min(age) filter (where sold >= 0.249999999) as quarter_sold_by,
        min(age) filter (where coalesce(sold_high, sold) >= 0.249999999) as quarter_sold_by_low,
        min(age) filter (where sold_low >= 0.249999999) as quarter_sold_by_high,
        min(age) filter (where sold >= 0.499999999) as half_sold_by,
        min(age) filter (where coalesce(sold_high, sold) >= 0.499999999) as half_sold_by_low,
        min(age) filter (where sold_low >= 0.499999999) as half_sold_by_high,
        min(age) filter (where sold >= 0.749999999) as three_quarters_sold_by,
        min(age) filter (where coalesce(sold_high, sold) >= 0.749999999) as three_quarters_sold_by_low,
        min(age) filter (where sold_low >= 0.749999999) as three_quarters_sold_by_high
    from sold_curves
    where is_known
    group by all
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
    observed_from,
    observed_to,
    case when observed_from is not null then lots end as lots,
    case when observed_from is not null then sold end as sold,
    case when observed_from is not null then left_lots end as left_lots,
    case when enough(sold) then quarter_sold_by end as quarter_sold_by,
    case when enough(sold) then quarter_sold_by_low end as quarter_sold_by_low,
    case when enough(sold) then quarter_sold_by_high end as quarter_sold_by_high,
    case when enough(sold) then half_sold_by end as half_sold_by,
    case when enough(sold) then half_sold_by_low end as half_sold_by_low,
    case when enough(sold) then half_sold_by_high end as half_sold_by_high,
    case when enough(sold) then three_quarters_sold_by end as three_quarters_sold_by,
    case when enough(sold) then three_quarters_sold_by_low end as three_quarters_sold_by_low,
    case when enough(sold) then three_quarters_sold_by_high end as three_quarters_sold_by_high,
    days_p25,
    days_p25_low,
    days_p25_high,
    days_median,
    days_median_low,
    days_median_high,
    days_p75,
    days_p75_low,
    days_p75_high,
    known_sold,
    timed_lots,
    case when enough(timed_lots) then sold_days_median end as sold_days_median,
    case when enough(timed_lots) then sold_days_p25 end as sold_days_p25,
    case when enough(timed_lots) then sold_days_p75 end as sold_days_p75,
    case when enough(timed_lots) then sold_days_p90 end as sold_days_p90,
    case when enough(known_sold) then attempts_mean end as attempts_mean,
    timed_vehicles,
    case when enough(timed_vehicles) then vehicle_days_median end as vehicle_days_median,
    case when enough(known_sold) then vehicle_attempts_mean end as vehicle_attempts_mean,
    open_lots,
    case when enough(timed_open_lots) then open_days_median end as open_days_median,
    known_left,
    case when enough(timed_left_lots) then left_days_median end as left_days_median
from figures
left join unsold_quartiles using (level, domain_id, kind)
left join reached using (level, domain_id, kind)
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
