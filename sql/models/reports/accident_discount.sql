with priced as (
    select lot_id, price from sales where price is not null
),
reported_lots as (
    select
        lots.domain_id,
        lot_cars.manufacturer_id,
        lot_cars.model_id,
        lot_cars.year,
        currency,
        case when is_auction(lots.domain_id) then 'sale' else 'asking' end as price_kind,
        claims_band,
        case coalesce(inspection_finding, check_finding) when 2 then 'yes' when 1 then 'no' else 'unknown' end as accident,
        case
            when inspection_finding is not null then 'inspection'
            when check_finding is not null then 'history_check'
            else 'none'
        end as accident_evidence,
        case when is_auction(lots.domain_id) then priced.price else plausible_price(lots.buy_now) end as price
    from lots
    inner join lot_findings using (lot_id)
    inner join lot_groups using (lot_id)
    left join lot_cars using (lot_id)
    left join priced using (lot_id)
),
clean_lots as (
    select domain_id, manufacturer_id, model_id, year, currency, count(*) as clean_lots, median(price) as clean_price
    from reported_lots
    where claims_band = 0 and accident = 'no' and price is not null
    group by all
),
compared as (
    select *, case when enough(clean_lots) then price / clean_price end as price_ratio
    from reported_lots
    left join clean_lots using (domain_id, manufacturer_id, model_id, year, currency)
),
bands as (
    select
        price_kind,
        claims_band,
        accident,
        accident_evidence,
        currency,
        count(*) as lots,
        count(price) as priced_lots,
        -- an amount without a known currency counts as a lot, but enters no statistic
        median(price) filter (where currency is not null) as price_median,
        count(price_ratio) as compared_lots,
        median(price_ratio) as price_ratio_median
    from compared
    group by all
)
select
    price_kind,
    claims_band,
    accident,
    accident_evidence,
    lots,
    priced_lots,
    currency,
    case when enough(priced_lots) then money(price_median) end as price_median,
    compared_lots,
    case when enough(compared_lots) then price_ratio_median end as price_ratio_median
from bands
