with comparable as (
    -- prices of the same model at most two model years apart
    select
        market,
        currency,
        manufacturer_id,
        model_id,
        year,
        cast(sum(count(price)) over (
            partition by market, currency, manufacturer_id, model_id
            order by year nulls last
            range between 2 preceding and 2 following
        ) as bigint) as comparable_prices
    from price_inputs
    where model_id is not null and year is not null
    group by market, currency, manufacturer_id, model_id, year
),
terms as (
    select
        market,
        coefficient,
        case when factor in ('age', 'mileage', 'month') then factor else factor || ': ' || level end as label
    from fit.effects
),
accuracy as (
    select market, currency, segment, level, error_median from price_accuracy
),
known as (
    select
        inputs.*,
        case
            when inputs.currency is null then 'currency_unknown'
            when estimates.lot is null then 'too_few_prices'
            when estimates.make_weight = 0 then 'make_without_prices'
        end as reason,
        -- the terms of a lot without an estimate are not told
        case when reason is null then estimates.market end as fitted_market,
        case when reason is null then exp(log_estimate) end as expected,
        price_band(round(expected)) as estimate_band,
        case when reason is null then low_80 end as low_80,
        case when reason is null then low_50 end as low_50,
        case when reason is null then high_50 end as high_50,
        case when reason is null then high_80 end as high_80,
        coalesce(is_left_out = 1, false) as is_left_out,
        case when reason is null then buy_now_share end as buy_now_share,
        case when reason is null then widened end as widened,
        case when reason is null then exp(estimates.place) end as place_factor,
        case when reason is null then exp(estimates.seller) end as seller_factor,
        -- a manufacturer with few judged prices is judged with its source
        coalesce(of_make.error_median, of_source.error_median, of_all.error_median) as segment_error,
        driver_1,
        driver_1_effect,
        driver_2,
        driver_2_effect,
        driver_3,
        driver_3_effect,
        driver_4,
        driver_4_effect,
        driver_5,
        driver_5_effect,
        case when reason is null then prices_below end as prices_below
    from price_inputs as inputs
    left join fit.markets as markets on markets.market = inputs.market and markets.currency = inputs.currency
    left join fit.estimates as estimates on estimates.lot = inputs.lot_id and estimates.market = markets.number
    left join accuracy as of_make
        on of_make.market = inputs.market and of_make.currency = inputs.currency
        and of_make.segment = 'manufacturer' and of_make.level = cast(inputs.manufacturer_id as string)
    left join accuracy as of_source
        on of_source.market = inputs.market and of_source.currency = inputs.currency
        and of_source.segment = 'source' and of_source.level = cast(inputs.domain_id as string)
    left join accuracy as of_all
        on of_all.market = inputs.market and of_all.currency = inputs.currency and of_all.segment = 'all'
),
band_prices as (
    -- what an interval of the class of an estimate rests on
    select market, currency, price_band(price) as estimate_band, count(*) as band_prices
    from known
    where price is not null and not is_left_out
    group by all
),
judged as (
    select
        known.*,
        case when expected is not null and coalesce(band_prices, 0) < 20 then 'few_prices_in_band' end as interval_reason
    from known
    left join band_prices using (market, currency, estimate_band)
)
select
    lot_id,
    vehicle_id,
    domain_id,
    judged.market,
    currency,
    is_currency_known,
    is_offered,
    priced_at,
    price,
    year_origin,
    reason,
    round(expected) as estimate,
    estimate_band,
    case when interval_reason is null then round(low_80) end as low_80,
    case when interval_reason is null then round(low_50) end as low_50,
    case when interval_reason is null then round(high_50) end as high_50,
    case when interval_reason is null then round(high_80) end as high_80,
    case when interval_reason is null then widened end as widened,
    interval_reason,
    -- an interval of 80 % is 2.563 standard deviations wide
    case when low_80 > 0 and high_80 > low_80 then ln(high_80 / low_80) / 2.563 end as log_deviation,
    case when buy_now_share is not null then buy_now end as buy_now,
    buy_now_share,
    case when interval_reason is null then prices_below end as prices_below,
    place_factor,
    seller_factor,
    coalesce(comparable_prices, 0) as comparable_prices,
    is_left_out,
    segment_error,
    coalesce(segment_error > estimate_alarm, false) as is_unreliable,
    terms_1.label as driver_1,
    round(expected * (1 - exp(-driver_1_effect))) as driver_1_amount,
    terms_2.label as driver_2,
    round(expected * (1 - exp(-driver_2_effect))) as driver_2_amount,
    terms_3.label as driver_3,
    round(expected * (1 - exp(-driver_3_effect))) as driver_3_amount,
    terms_4.label as driver_4,
    round(expected * (1 - exp(-driver_4_effect))) as driver_4_amount,
    terms_5.label as driver_5,
    round(expected * (1 - exp(-driver_5_effect))) as driver_5_amount
from judged
cross join dim_settings
left join comparable using (market, currency, manufacturer_id, model_id, year)
left join terms as terms_1 on terms_1.market = fitted_market and terms_1.coefficient = judged.driver_1
left join terms as terms_2 on terms_2.market = fitted_market and terms_2.coefficient = judged.driver_2
left join terms as terms_3 on terms_3.market = fitted_market and terms_3.coefficient = judged.driver_3
left join terms as terms_4 on terms_4.market = fitted_market and terms_4.coefficient = judged.driver_4
left join terms as terms_5 on terms_5.market = fitted_market and terms_5.coefficient = judged.driver_5
