with sold_lots as (
    -- a price that is doubted by its lot alone would pull the fit
    select
        lot_id,
        case when doubt is null then amount end as price,
        sale_date,
        case when proof = 2 then 'buy_now' else 'auction' end as sold_by,
        -- a lot can get another Buy Now price after its sale
        case when proof = 2 then amount else buy_now end as buy_now
    from rounds
    where trust_reason = 'trusted'
),
next_attempts as (
    select lot_id, max(sale_date) as next_date from rounds where outcome = 'upcoming' group by lot_id
),
offers as (
    select
        lots.lot_id,
        lots.vehicle_id,
        lots.domain_id,
        case when not is_auction(lots.domain_id) then 'asking' else 'auction' end as market,
        currency,
        coalesce(sold_lots.price, case when market = 'asking' and lots.buy_now >= 2 then plausible_price(lots.buy_now) end)
            as price,
        sold_lots.lot_id is null and not coalesce(lots.archived, false) as is_offered,
        -- a sold lot is priced at its sale, any other lot at its next auction, when it left the feed, or now
        case
            -- a listing from the future would stretch the months of the market
            when market = 'asking' then least(coalesce(plausible_date(lots.created_at, last_day), as_of), as_of)
            -- no auction is announced so far ahead; the car would be older than it is at any
            when sold_lots.lot_id is null and next_date > as_of + interval '120' day then as_of
            else coalesce(sold_lots.sale_date, next_date, plausible_date(lots.archived_at, last_day), as_of)
        end as priced_at,
        facts.manufacturer_id,
        facts.model_id,
        facts.generation_id,
        facts.year,
        facts.year_origin,
        coalesce(nullif(trim(body_type_name), ''), 'unknown') as body_type,
        coalesce(sold_lots.sold_by, 'auction') as sold_by,
        case
            when is_auction(lots.domain_id)
            then case when sold_lots.lot_id is null then plausible_price(lots.buy_now) else sold_lots.buy_now end
        end as buy_now,
        nullif(lower(trim(engine_name)), '') as engine,
        nullif(lower(trim(fuel_name)), '') as fuel,
        nullif(lower(trim(drive_wheel_name)), '') as drive,
        coalesce(cast(selling_branch_id as string), nullif(lower(trim(selling_branch_name)), '')) as branch,
        nullif(lower(trim(seller_name)), '') as seller,
        damage_main_group,
        damage_second_group,
        title_brand,
        coalesce(nullif(trim(condition_name), ''), 'unknown') as condition,
        case keys_available when true then 'yes' when false then 'no' else 'unknown' end as has_keys,
        seller_group,
        country_code as country,
        country_code || ' ' || state_code as state,
        readings.odometer_km,
        coalesce(nullif(trim(odometer_status_name), ''), 'unknown') as odometer_status
    from lots
    cross join dim_settings
    inner join lot_groups as lot_group on lot_group.lot_id = lots.lot_id
    left join sold_lots on sold_lots.lot_id = lots.lot_id
    left join next_attempts on next_attempts.lot_id = lots.lot_id
    left join lot_cars as facts on facts.lot_id = lots.lot_id
    left join vehicles on vehicles.vehicle_id = facts.vehicle_id
    left join odometer_readings as readings on readings.lot_id = lots.lot_id
),
aged as (
    -- days from the first of January of the model year; a car can be sold some months before it
    select
        *,
        case
            when year between 1940 and date_part('year', day_of(priced_at)) + 1
            then greatest(
                date_part('year', day_of(priced_at)) - year + (cast(date_part('month', day_of(priced_at)) as double) - 0.5) / 12,
                cast(0 as double)
            )
        end as age_years
    from offers
),
main_currencies as (
    -- the currency of most prices of a market
    select
        market,
        currency,
        row_number() over (partition by market order by count(price) desc nulls last, currency nulls last) as place
    from offers
    where currency is not null
    group by market, currency
)
select
    lot_id,
    vehicle_id,
    domain_id,
    aged.market,
    coalesce(aged.currency, main_currencies.currency) as currency,
    aged.currency is not null as is_currency_known,
    is_offered,
    case when aged.currency is not null then price end as price,
    priced_at,
    month_of(priced_at) as priced_month,
    manufacturer_id,
    model_id,
    generation_id,
    year,
    year_origin,
    body_type,
    sold_by,
    buy_now,
    engine,
    fuel,
    drive,
    damage_main_group,
    damage_second_group,
    title_brand,
    condition,
    has_keys,
    seller_group,
    seller,
    country,
    state,
    branch,
    age_years,
    case
        when age_years is null then 'unknown'
        when age_years < 4 then '0 to 3'
        when age_years < 8 then '4 to 7'
        when age_years < 13 then '8 to 12'
        else '13 and more'
    end as age_band,
    -- fewer than 500 km a year are a placeholder such as 1, or a typing error
    case when odometer_km >= 500 * (age_years - 1) then odometer_km end as odometer_km,
    case
        when age_years is null then 'year unknown'
        when aged.odometer_km is null then odometer_status || ' unusable'
        when aged.odometer_km < 500 * (age_years - 1) then 'implausible'
        else 'usable'
    end as odometer
from aged
left join main_currencies on main_currencies.market = aged.market and main_currencies.place = 1
