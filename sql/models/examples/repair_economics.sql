with lot_facts as (
    -- the bounds of a price also apply to estimates
    select
        lots.domain_id,
        currency,
        estimate_repair_price as repair,
        pre_accident_price as pre_accident,
        repair / pre_accident as repair_share,
        case
            when repair_share < 0.25 then '0.00-0.25'
            when repair_share < 0.5 then '0.25-0.50'
            when repair_share < 0.75 then '0.50-0.75'
            when repair_share < 1 then '0.75-1.00'
            else '1.00+'
        end as repair_band,
        price,
        pre_accident - price - repair as margin
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    left join (select lot_id, price from sales where price is not null) as sold_lots on sold_lots.lot_id = lots.lot_id
    where is_auction(lots.domain_id)
        and estimate_repair_price between 0 and 5000000
        and plausible_price(pre_accident_price) is not null
),
bands as (
    select
        domain_id,
        repair_band,
        currency,
        count(*) as lots,
        count(price) as priced_lots,
        median(repair) as repair_median,
        median(pre_accident) as pre_accident_median,
        median(price) as price_median,
        median(price / pre_accident) as price_share_median,
        median((price + repair) / pre_accident) as total_share_median,
        median(margin) as margin_median,
        count(*) filter (where margin > 0) as below_value_lots
    from lot_facts
    group by domain_id, repair_band, currency
),
sized_bands as (
    -- amounts without a known currency count as lots, but enter no statistic
    select
        *,
        currency is not null and enough(lots) as has_estimates,
        currency is not null and enough(priced_lots) as has_prices
    from bands
)
select
    domain_id,
    domain_name,
    repair_band,
    lots,
    priced_lots,
    currency,
    case when has_estimates then money(repair_median) end as repair_median,
    case when has_estimates then money(pre_accident_median) end as pre_accident_median,
    case when has_prices then money(price_median) end as price_median,
    case when has_prices then price_share_median end as price_share_median,
    case when has_prices then total_share_median end as total_share_median,
    case when has_prices then money(margin_median) end as margin_median,
    below_value_lots,
    case when has_prices then below_value_lots / priced_lots end as below_value_share
from sized_bands
left join dim_sources using (domain_id)
