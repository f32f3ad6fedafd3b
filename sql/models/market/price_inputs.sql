with source_sales as (
    select
        lot_id,
        price,
        sale_date,
        case when trust_basis = 'buy_now' then 'buy_now' else 'auction' end as sold_by
    from sales
    where is_trusted
),
next_attempts as (
    select lot_id, max(sale_date) as sale_date
    from sales
    where outcome = 'upcoming'
    group by lot_id
),
source_lots as (
    select
        lots.lot_id,
        lots.vehicle_id,
        lots.domain_id,
        case when lots.domain_id = 12 then 'asking' else 'auction' end as market,
        not coalesce(lots.archived, false) as is_in_feed,
        case when lots.domain_id = 12 and lots.buy_now between 1 and 5000000 then lots.buy_now end as asking_price,
        lots.created_at,
        lots.archived_at,
        coalesce(nullif(trim(lots.condition_name), ''), 'unknown') as condition,
        case lots.keys_available when true then 'yes' when false then 'no' else 'unknown' end as has_keys,
        coalesce(nullif(trim(lots.odometer_status_name), ''), 'unknown') as odometer_status
    from lots
),
source_vehicles as (
    select vehicle_id, manufacturer_id, model_id, generation_id, year, coalesce(nullif(trim(body_type_name), ''), 'unknown') as body_type
    from vehicles
),
offers as (
    -- a sold lot is priced at its sale, any other lot at its next auction, when it left the feed, or now
    select
        source_lots.*,
        source_sales.sold_by,
        coalesce(source_sales.price, source_lots.asking_price) as price,
        source_sales.price is null and source_lots.is_in_feed as is_offered,
        case
            -- a listing from the future would stretch the months of the market
            when source_lots.market = 'asking' then least(coalesce(source_lots.created_at, clock.as_of), clock.as_of)
            else coalesce(source_sales.sale_date, next_attempts.sale_date, source_lots.archived_at, clock.as_of)
        end as priced_at
    from source_lots
    cross join dim_settings as clock
    left join source_sales on source_sales.lot_id = source_lots.lot_id
    left join next_attempts on next_attempts.lot_id = source_lots.lot_id
),
described as (
    select
        offers.*,
        groups.country_code,
        groups.state_code,
        groups.currency,
        groups.damage_main_group,
        groups.damage_second_group,
        groups.title_brand,
        groups.seller_group,
        source_vehicles.manufacturer_id,
        source_vehicles.model_id,
        source_vehicles.generation_id,
        source_vehicles.year,
        coalesce(source_vehicles.body_type, 'unknown') as body_type,
        readings.odometer_km,
        -- days from the first of January of the model year; a car can be sold some months before it
        case
            when source_vehicles.year between 1940 and date_part('year', offers.priced_at) + 1
            then greatest(
                cast(date_part('year', offers.priced_at) - source_vehicles.year as double)
                + (cast(date_part('month', offers.priced_at) as double) - 0.5) / 12,
                cast(0 as double)
            )
        end as age_years
    from offers
    inner join lot_groups as groups on groups.lot_id = offers.lot_id
    left join source_vehicles on source_vehicles.vehicle_id = offers.vehicle_id
    left join odometer_readings as readings on readings.lot_id = offers.lot_id
),
currency_counts as (
    select market, currency, count(price) as prices
    from described
    where currency is not null
    group by market, currency
),
main_currencies as (
    -- the currency of most prices of a market
    select
        market,
        currency,
        row_number() over (partition by market order by prices desc nulls last, currency nulls last) as place
    from currency_counts
),
final as (
    select
        described.lot_id,
        described.vehicle_id,
        described.domain_id,
        described.market,
        coalesce(described.currency, main_currencies.currency) as currency,
        described.currency is not null as is_currency_known,
        described.is_offered,
        case when described.currency is not null then described.price end as price,
        described.priced_at,
        cast(date_trunc('month', cast(described.priced_at as date)) as date) as priced_month,
        described.manufacturer_id,
        described.model_id,
        described.generation_id,
        described.year,
        described.body_type,
        coalesce(described.sold_by, 'auction') as sold_by,
        described.damage_main_group,
        described.damage_second_group,
        described.title_brand,
        described.condition,
        described.has_keys,
        described.seller_group,
        described.country_code as country,
        described.country_code || ' ' || described.state_code as state,
        described.age_years,
        case
            when described.age_years is null then 'unknown'
            when described.age_years < 4 then '0 to 3'
            when described.age_years < 8 then '4 to 7'
            when described.age_years < 13 then '8 to 12'
            else '13 and more'
        end as age_band,
        case
            when described.odometer_km is null or described.age_years is null then null
            -- fewer than 500 km a year are a placeholder such as 1, or a typing error
            when described.odometer_km < 500 * (described.age_years - 1) then null
            else described.odometer_km
        end as odometer_km,
        case
            when described.age_years is null then 'year unknown'
            when described.odometer_km is null then described.odometer_status || ' unusable'
            when described.odometer_km < 500 * (described.age_years - 1) then 'implausible'
            else 'usable'
        end as odometer
    from described
    left join main_currencies on main_currencies.market = described.market and main_currencies.place = 1
)
select * from final
