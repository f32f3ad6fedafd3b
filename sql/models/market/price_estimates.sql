with years as (
    select market, currency, manufacturer_id, model_id, year, count(price) as prices
    from price_inputs
    where model_id is not null and year is not null
    group by market, currency, manufacturer_id, model_id, year
),
comparable as (
    -- prices of the same model at most two model years apart
    select
        market,
        currency,
        manufacturer_id,
        model_id,
        year,
        cast(sum(prices) over (
            partition by market, currency, manufacturer_id, model_id
            order by year nulls last
            range between 2 preceding and 2 following
        ) as bigint) as prices
    from years
),
terms as (
    select
        market,
        coefficient,
        case when factor in ('age', 'mileage', 'month') then factor else factor || ': ' || level end as label
    from fit.effects
),
estimates as (
    select estimates.*, markets.market as market_name, markets.currency
    from fit.estimates as estimates
    inner join fit.markets as markets on markets.number = estimates.market
),
judged as (
    -- a manufacturer with few judged prices is judged with its source
    select
        inputs.lot_id,
        coalesce(ofmake.error_median, ofsource.error_median, ofall.error_median) as segment_error
    from price_inputs as inputs
    left join price_accuracy as ofmake
        on ofmake.market = inputs.market and ofmake.currency = inputs.currency
        and ofmake.segment = 'manufacturer' and ofmake.level = cast(inputs.manufacturer_id as string)
    left join price_accuracy as ofsource
        on ofsource.market = inputs.market and ofsource.currency = inputs.currency
        and ofsource.segment = 'source' and ofsource.level = cast(inputs.domain_id as string)
    left join price_accuracy as ofall
        on ofall.market = inputs.market and ofall.currency = inputs.currency and ofall.segment = 'all'
),
known as (
    select
        inputs.*,
        case
            when inputs.currency is null then 'currency_unknown'
            when estimates.lot is null then 'too_few_prices'
            when estimates.make_weight = 0 then 'make_without_prices'
        end as reason,
        estimates.log_estimate,
        estimates.low_80,
        estimates.low_50,
        estimates.high_50,
        estimates.high_80,
        estimates.is_left_out,
        estimates.driver_1,
        estimates.driver_1_effect,
        estimates.driver_2,
        estimates.driver_2_effect,
        estimates.driver_3,
        estimates.driver_3_effect,
        estimates.driver_4,
        estimates.driver_4_effect,
        estimates.driver_5,
        estimates.driver_5_effect
    from price_inputs as inputs
    left join estimates
        on estimates.lot = inputs.lot_id and estimates.market_name = inputs.market and estimates.currency = inputs.currency
),
final as (
    select
        known.lot_id,
        known.vehicle_id,
        known.domain_id,
        known.market,
        known.currency,
        known.is_currency_known,
        known.is_offered,
        known.priced_at,
        known.price,
        known.reason,
        case when known.reason is null then round(exp(known.log_estimate)) end as estimate,
        case
            when known.reason is not null then null
            when round(exp(known.log_estimate)) < 1000 then 'below 1,000'
            when round(exp(known.log_estimate)) < 3000 then '1,000 to 2,999'
            when round(exp(known.log_estimate)) < 10000 then '3,000 to 9,999'
            when round(exp(known.log_estimate)) < 30000 then '10,000 to 29,999'
            else '30,000 and more'
        end as estimate_band,
        case when known.reason is null then round(known.low_80) end as low_80,
        case when known.reason is null then round(known.low_50) end as low_50,
        case when known.reason is null then round(known.high_50) end as high_50,
        case when known.reason is null then round(known.high_80) end as high_80,
        coalesce(comparable.prices, 0) as comparable_prices,
        coalesce(known.is_left_out = 1, false) as is_left_out,
        judged.segment_error,
        coalesce(judged.segment_error > settings.estimate_alarm, false) as is_unreliable,
        case when known.reason is null then terms_1.label end as driver_1,
        case when known.reason is null then round(exp(known.log_estimate) * (1 - exp(-known.driver_1_effect))) end as driver_1_amount,
        case when known.reason is null then terms_2.label end as driver_2,
        case when known.reason is null then round(exp(known.log_estimate) * (1 - exp(-known.driver_2_effect))) end as driver_2_amount,
        case when known.reason is null then terms_3.label end as driver_3,
        case when known.reason is null then round(exp(known.log_estimate) * (1 - exp(-known.driver_3_effect))) end as driver_3_amount,
        case when known.reason is null then terms_4.label end as driver_4,
        case when known.reason is null then round(exp(known.log_estimate) * (1 - exp(-known.driver_4_effect))) end as driver_4_amount,
        case when known.reason is null then terms_5.label end as driver_5,
        case when known.reason is null then round(exp(known.log_estimate) * (1 - exp(-known.driver_5_effect))) end as driver_5_amount
    from known
    cross join dim_settings as settings
    inner join judged on judged.lot_id = known.lot_id
    left join fit.markets as markets on markets.market = known.market and markets.currency = known.currency
    left join comparable
        on comparable.market = known.market and comparable.currency = known.currency
        and comparable.manufacturer_id = known.manufacturer_id
        and comparable.model_id = known.model_id and comparable.year = known.year
    left join terms as terms_1 on terms_1.market = markets.number and terms_1.coefficient = known.driver_1
    left join terms as terms_2 on terms_2.market = markets.number and terms_2.coefficient = known.driver_2
    left join terms as terms_3 on terms_3.market = markets.number and terms_3.coefficient = known.driver_3
    left join terms as terms_4 on terms_4.market = markets.number and terms_4.coefficient = known.driver_4
    left join terms as terms_5 on terms_5.market = markets.number and terms_5.coefficient = known.driver_5
)
select * from final
