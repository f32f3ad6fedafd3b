with levels as (
    select 'all' as level
    union all
    select 'model' as level
),
priced as (
    select
        lot_id,
        manufacturer_id,
        model_id,
        cast(extract(year from sale_month) as bigint) - year as age_years,
        currency,
        price
    from sales
    where price is not null
),
compared as (
    select
        priced.manufacturer_id,
        priced.model_id,
        least(greatest(priced.age_years, 0), 30) as age_years,
        cast(least(floor(readings.odometer_km / 25000), 16) as bigint) * 25000 as odometer_band_km,
        priced.currency,
        priced.price,
        price_ratios.price_ratio
    from priced
    inner join odometer_readings as readings on readings.lot_id = priced.lot_id
    left join price_ratios on price_ratios.lot_id = priced.lot_id
    where priced.age_years is not null
),
leveled as (
    select
        levels.level,
        case when levels.level = 'model' then compared.manufacturer_id end as manufacturer_id,
        case when levels.level = 'model' then compared.model_id end as model_id,
        compared.age_years,
        compared.odometer_band_km,
        compared.currency,
        -- an amount without a known currency counts as a lot, but enters no statistic
        case when compared.currency is not null then compared.price end as known_price,
        compared.price_ratio
    from compared
    cross join levels
),
bands as (
    select
        level,
        manufacturer_id,
        model_id,
        age_years,
        odometer_band_km,
        currency,
        count(*) as priced_lots,
        percentile_cont(0.5) within group (order by known_price) as price_median,
        count(price_ratio) as compared_lots,
        percentile_cont(0.5) within group (order by price_ratio) as price_ratio_median
    from leveled
    group by level, manufacturer_id, model_id, age_years, odometer_band_km, currency
),
final as (
    select
        bands.level,
        bands.manufacturer_id,
        manufacturer_names.manufacturer_name,
        bands.model_id,
        model_names.model_name,
        bands.age_years,
        bands.odometer_band_km,
        bands.priced_lots,
        bands.currency,
        case when bands.priced_lots >= settings.minimum_group then round(bands.price_median * 100) / 100 end as price_median,
        bands.compared_lots,
        case when bands.compared_lots >= settings.minimum_group then bands.price_ratio_median end as price_ratio_median
    from bands
    cross join dim_settings as settings
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = bands.manufacturer_id
    left join dim_models as model_names on model_names.model_id = bands.model_id
)
select * from final
