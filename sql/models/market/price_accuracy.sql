with judged as (
    -- every price of the back-test, estimated from the prices of earlier months alone
    select
        markets.market,
        markets.currency,
        domain_id,
        coalesce(manufacturer_id, -1) as manufacturer_id,
        damage_main_group as damage,
        left(cast(priced_month as string), 7) as month,
        price_band(price) as price_band,
        log_estimate - ln(price) as log_error,
        abs(exp(log_estimate) / price - 1) as error,
        case when price between low_50 and high_50 then 1.0 else 0.0 end as is_inside_50,
        case when price between low_80 and high_80 then 1.0 else 0.0 end as is_inside_80
    from fit.backtest as backtest
    inner join fit.markets as markets on markets.number = backtest.market
    inner join price_inputs on price_inputs.lot_id = backtest.lot
    left join price_doubts on price_doubts.lot_id = backtest.lot
    -- a price that is merely unlikely is judged, too: without it, intervals would seem to hold more than they do
    where coalesce(price_doubts.reason, 'left_out_by_fit') = 'left_out_by_fit'
),
counted as (
    -- one row a level of one segment; the columns of the other segments are null
    select
        market,
        currency,
        domain_id,
        manufacturer_id,
        damage,
        month,
        price_band,
        count(*) as prices,
        median(error) as error_median,
        exp(avg(log_error)) - 1 as bias,
        avg(is_inside_50) as inside_50,
        avg(is_inside_80) as inside_80
    from judged
    group by grouping sets (
        (market, currency),
        (market, currency, domain_id),
        (market, currency, manufacturer_id),
        (market, currency, damage),
        (market, currency, month),
        (market, currency, price_band)
    )
)
select
    market,
    currency,
    case
        when domain_id is not null then 'source'
        when manufacturer_id is not null then 'manufacturer'
        when damage is not null then 'damage'
        when month is not null then 'month'
        when price_band is not null then 'price'
        else 'all'
    end as segment,
    coalesce(
        cast(domain_id as string), cast(nullif(manufacturer_id, -1) as string), damage, month, price_band,
        case when manufacturer_id is not null then 'unknown' else 'all' end
    ) as level,
    case
        when domain_id is not null then domain_name
        else coalesce(
            manufacturer_name, damage, month, price_band, case when manufacturer_id is not null then 'unknown' else 'all' end
        )
    end as name,
    prices,
    case when enough(prices) then error_median end as error_median,
    case when enough(prices) then bias end as bias,
    case when enough(prices) then inside_50 end as inside_50,
    case when enough(prices) then inside_80 end as inside_80
from counted
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
