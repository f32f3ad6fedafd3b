with priced as (
    select
        *,
        case when trust_basis = 'buy_now' then price end as buy_now_price,
        case when trust_basis <> 'buy_now' then price end as auction_price
    from sales
    where price is not null
),
auctions as (
    select
        domain_id, manufacturer_id, model_id, year, currency,
        count(auction_price) as auctions,
        median(auction_price) as auction_median
    from priced
    group by all
),
prices_and_offers as (
    select
        manufacturer_id,
        model_id,
        year,
        currency,
        false as is_offer,
        buy_now_price,
        auction_price,
        case when enough(auctions) then buy_now_price / auction_median - 1 end as premium
    from priced
    left join auctions using (domain_id, manufacturer_id, model_id, year, currency)
    union all
    -- 0 means no Buy Now price; source 12 has asking prices instead
    select cars.manufacturer_id, cars.model_id, cars.year, lot_groups.currency, true, null, null, null
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    inner join price_inputs as cars on cars.lot_id = lots.lot_id
    where is_auction(lots.domain_id) and lots.buy_now > 0 and lots.buy_now <= 5000000
),
premiums as (
    select
        level,
        case when level = 'model_year' then manufacturer_id end as manufacturer_id,
        case when level = 'model_year' then model_id end as model_id,
        case when level = 'model_year' then year end as year,
        currency,
        -- medians over all models would compare different mixes of cars; an unknown currency may be several
        level = 'model_year' and currency is not null as has_medians,
        count(*) filter (where is_offer) as offered_lots,
        count(buy_now_price) as buy_now_lots,
        count(auction_price) as auction_lots,
        median(buy_now_price) as buy_now_median,
        median(auction_price) as auction_median,
        count(premium) as compared_lots,
        median(premium) as premium_median
    from prices_and_offers
    cross join (values ('all'), ('model_year')) as levels(level)
    group by all
)
select
    level,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    year,
    offered_lots,
    buy_now_lots,
    auction_lots,
    currency,
    case when has_medians and enough(buy_now_lots) then money(buy_now_median) end as buy_now_median,
    case when has_medians and enough(auction_lots) then money(auction_median) end as auction_median,
    compared_lots,
    case when enough(compared_lots) then premium_median end as premium_median
from premiums
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
