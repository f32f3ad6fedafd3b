-- How far the prices lay from the estimates that had been given, in the distance to the end of the 80 % interval as the model had it.
with distances as (
    select
        market,
        currency,
        price_band(estimate) as estimate_band,
        coalesce(widened, 1) * case
            when price > estimate then ln(price / estimate) / ln(high_80 / estimate)
            else ln(estimate / price) / ln(estimate / low_80)
        end as distance
    from given_prices
    where price > 0 and 0 < low_80 and low_80 < estimate and estimate < high_80
),
ranked as (
    select
        *,
        row_number() over (partition by market, currency order by distance nulls last) as rank_of_all,
        count(*) over (partition by market, currency) as prices,
        row_number() over (partition by market, currency, estimate_band order by distance nulls last) as rank_of_band,
        count(*) over (partition by market, currency, estimate_band) as prices_of_band
    from distances
),
of_markets as (
    -- Four in five prices should lie within 1. With 1,000 prices, what they say counts half.
    select
        market,
        currency,
        max(prices) as prices,
        max(prices) / (max(prices) + 1000.0)
            * ln(min(distance) filter (where rank_of_all >= 0.8 * (prices + 1))) as log_factor
    from ranked
    group by market, currency
    having max(prices) >= 100
),
of_bands as (
    select
        market,
        currency,
        estimate_band,
        max(prices_of_band) as prices,
        ln(min(distance) filter (where rank_of_band >= 0.8 * (prices_of_band + 1))) as log_factor
    from ranked
    group by market, currency, estimate_band
    having max(prices_of_band) >= 100
),
bands as (
    select *
    from (
        values ('below 1,000', 0), ('1,000 to 2,999', 1000), ('3,000 to 9,999', 3000), ('10,000 to 29,999', 10000),
            ('30,000 and more', 30000)
    ) as bands (estimate_band, estimate_from)
)
select
    of_markets.market,
    of_markets.currency,
    bands.estimate_band,
    cast(bands.estimate_from as double) as estimate_from,
    -- more than twice or half as wide is a fault of the model, and no matter of calibration
    least(2, greatest(0.5, exp(
        of_markets.log_factor
        + coalesce(of_bands.prices / (of_bands.prices + 1000.0) * (of_bands.log_factor - of_markets.log_factor), 0)
    ))) as factor
from of_markets
cross join bands
left join of_bands
    on of_bands.market = of_markets.market
    and of_bands.currency = of_markets.currency
    and of_bands.estimate_band = bands.estimate_band
