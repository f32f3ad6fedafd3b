with judged as (
    -- every price of the back-test, estimated from the prices of earlier months alone
    select
        markets.market,
        markets.currency,
        inputs.price,
        inputs.priced_month,
        inputs.domain_id,
        inputs.manufacturer_id,
        inputs.damage_main_group,
        backtest.log_estimate - ln(inputs.price) as log_error,
        abs(exp(backtest.log_estimate) / inputs.price - 1) as error,
        case when inputs.price between backtest.low_50 and backtest.high_50 then 1.0 else 0.0 end as is_inside_50,
        case when inputs.price between backtest.low_80 and backtest.high_80 then 1.0 else 0.0 end as is_inside_80
    from fit.backtest as backtest
    inner join fit.markets as markets on markets.number = backtest.market
    inner join price_inputs as inputs on inputs.lot_id = backtest.lot
),
segmented as (
    select 'all' as segment, 'all' as level, judged.* from judged
    union all
    select 'source', cast(domain_id as string), judged.* from judged
    union all
    select 'manufacturer', coalesce(cast(manufacturer_id as string), 'unknown'), judged.* from judged
    union all
    select 'damage', damage_main_group, judged.* from judged
    union all
    select 'month', left(cast(priced_month as string), 7), judged.* from judged
    union all
    select
        'price',
        case
            when price < 1000 then 'below 1,000'
            when price < 3000 then '1,000 to 2,999'
            when price < 10000 then '3,000 to 9,999'
            when price < 30000 then '10,000 to 29,999'
            else '30,000 and more'
        end,
        judged.*
    from judged
),
counted as (
    select
        market,
        currency,
        segment,
        level,
        count(*) as prices,
        percentile_cont(0.5) within group (order by error) as error_median,
        exp(avg(log_error)) - 1 as bias,
        avg(is_inside_50) as inside_50,
        avg(is_inside_80) as inside_80
    from segmented
    group by market, currency, segment, level
),
final as (
    select
        counted.market,
        counted.currency,
        counted.segment,
        counted.level,
        case counted.segment
            when 'source' then source_names.domain_name
            when 'manufacturer' then coalesce(manufacturer_names.manufacturer_name, 'unknown')
            else counted.level
        end as name,
        counted.prices,
        case when counted.prices >= settings.minimum_group then counted.error_median end as error_median,
        case when counted.prices >= settings.minimum_group then counted.bias end as bias,
        case when counted.prices >= settings.minimum_group then counted.inside_50 end as inside_50,
        case when counted.prices >= settings.minimum_group then counted.inside_80 end as inside_80
    from counted
    cross join dim_settings as settings
    left join dim_sources as source_names
        on cast(source_names.domain_id as string) = case when counted.segment = 'source' then counted.level end
    left join dim_manufacturers as manufacturer_names
        on cast(manufacturer_names.manufacturer_id as string)
            = case when counted.segment = 'manufacturer' then counted.level end
)
select * from final
