with levels as (
    select 'all' as level
    union all
    select 'model_year' as level
),
source_vehicles as (
    select vehicle_id, manufacturer_id, model_id, year from vehicles
),
vehicle_offers as (
    -- 0 means no Buy Now price; source 12 has asking prices instead
    select lots.vehicle_id, lot_groups.currency, count(*) as offered_lots
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    where lots.domain_id <> 12 and lots.buy_now > 0 and lots.buy_now <= 5000000
    group by lots.vehicle_id, lot_groups.currency
),
model_offers as (
    select
        source_vehicles.manufacturer_id,
        source_vehicles.model_id,
        source_vehicles.year,
        vehicle_offers.currency,
        sum(vehicle_offers.offered_lots) as offered_lots
    from vehicle_offers
    left join source_vehicles on source_vehicles.vehicle_id = vehicle_offers.vehicle_id
    group by source_vehicles.manufacturer_id, source_vehicles.model_id, source_vehicles.year, vehicle_offers.currency
),
priced as (
    select
        domain_id,
        manufacturer_id,
        model_id,
        year,
        currency,
        case when trust_basis = 'buy_now' then price end as buy_now_price,
        case when trust_basis <> 'buy_now' then price end as auction_price
    from sales
    where price is not null
),
auctions as (
    select
        domain_id,
        manufacturer_id,
        model_id,
        year,
        currency,
        count(auction_price) as auction_lots,
        percentile_cont(0.5) within group (order by auction_price) as auction_median
    from priced
    where manufacturer_id is not null and model_id is not null and year is not null
    group by domain_id, manufacturer_id, model_id, year, currency
),
compared as (
    select
        priced.manufacturer_id,
        priced.model_id,
        priced.year,
        priced.currency,
        priced.buy_now_price,
        priced.auction_price,
        case
            when auctions.auction_lots >= settings.minimum_group
            then priced.buy_now_price / auctions.auction_median - 1
        end as premium
    from priced
    cross join dim_settings as settings
    left join auctions
        on auctions.domain_id = priced.domain_id
        and auctions.manufacturer_id = priced.manufacturer_id
        and auctions.model_id = priced.model_id
        and auctions.year = priced.year
        and auctions.currency = priced.currency
),
sales_and_offers as (
    select manufacturer_id, model_id, year, currency, 0 as offered_lots, buy_now_price, auction_price, premium from compared
    union all
    select manufacturer_id, model_id, year, currency, offered_lots, null, null, null from model_offers
),
leveled as (
    select
        levels.level,
        case when levels.level = 'model_year' then sales_and_offers.manufacturer_id end as manufacturer_id,
        case when levels.level = 'model_year' then sales_and_offers.model_id end as model_id,
        case when levels.level = 'model_year' then sales_and_offers.year end as year,
        sales_and_offers.currency,
        sales_and_offers.offered_lots,
        sales_and_offers.buy_now_price,
        sales_and_offers.auction_price,
        sales_and_offers.premium
    from sales_and_offers
    cross join levels
),
premiums as (
    select
        level,
        manufacturer_id,
        model_id,
        year,
        currency,
        cast(sum(offered_lots) as bigint) as offered_lots,
        count(buy_now_price) as buy_now_lots,
        count(auction_price) as auction_lots,
        percentile_cont(0.5) within group (order by buy_now_price) as buy_now_median,
        percentile_cont(0.5) within group (order by auction_price) as auction_median,
        count(premium) as compared_lots,
        percentile_cont(0.5) within group (order by premium) as premium_median
    from leveled
    group by level, manufacturer_id, model_id, year, currency
),
final as (
    select
        premiums.level,
        premiums.manufacturer_id,
        manufacturer_names.manufacturer_name,
        premiums.model_id,
        model_names.model_name,
        premiums.year,
        premiums.offered_lots,
        premiums.buy_now_lots,
        premiums.auction_lots,
        premiums.currency,
        -- medians over all models would compare different mixes of cars; an unknown currency may be several
        case
            when premiums.level = 'model_year'
                and premiums.currency is not null
                and premiums.buy_now_lots >= settings.minimum_group
            then round(premiums.buy_now_median * 100) / 100
        end as buy_now_median,
        case
            when premiums.level = 'model_year'
                and premiums.currency is not null
                and premiums.auction_lots >= settings.minimum_group
            then round(premiums.auction_median * 100) / 100
        end as auction_median,
        premiums.compared_lots,
        case when premiums.compared_lots >= settings.minimum_group then premiums.premium_median end as premium_median
    from premiums
    cross join dim_settings as settings
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = premiums.manufacturer_id
    left join dim_models as model_names on model_names.model_id = premiums.model_id
)
select * from final
