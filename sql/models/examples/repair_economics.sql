with sold_lots as (
    select lot_id, price
    from sales
    where price is not null
),
estimated as (
    -- the bounds of a price also apply to estimates
    select
        lot_id,
        domain_id,
        estimate_repair_price as repair,
        pre_accident_price as pre_accident,
        estimate_repair_price / pre_accident_price as repair_share
    from lots
    where domain_id <> 12
        and estimate_repair_price between 0 and 5000000
        and pre_accident_price between 1 and 5000000
),
lot_facts as (
    select
        estimated.domain_id,
        lot_groups.currency,
        case
            when estimated.repair_share < 0.25 then '0.00-0.25'
            when estimated.repair_share < 0.5 then '0.25-0.50'
            when estimated.repair_share < 0.75 then '0.50-0.75'
            when estimated.repair_share < 1 then '0.75-1.00'
            else '1.00+'
        end as repair_band,
        estimated.repair,
        estimated.pre_accident,
        sold_lots.price,
        sold_lots.price / estimated.pre_accident as price_share,
        (sold_lots.price + estimated.repair) / estimated.pre_accident as total_share,
        estimated.pre_accident - sold_lots.price - estimated.repair as margin
    from estimated
    inner join lot_groups on lot_groups.lot_id = estimated.lot_id
    left join sold_lots on sold_lots.lot_id = estimated.lot_id
),
bands as (
    select
        domain_id,
        repair_band,
        currency,
        count(*) as lots,
        count(price) as priced_lots,
        percentile_cont(0.5) within group (order by repair) as repair_median,
        percentile_cont(0.5) within group (order by pre_accident) as pre_accident_median,
        percentile_cont(0.5) within group (order by price) as price_median,
        percentile_cont(0.5) within group (order by price_share) as price_share_median,
        percentile_cont(0.5) within group (order by total_share) as total_share_median,
        percentile_cont(0.5) within group (order by margin) as margin_median,
        count(case when margin > 0 then 1 end) as below_value_lots
    from lot_facts
    group by domain_id, repair_band, currency
),
sized_bands as (
    select
        bands.*,
        -- amounts without a known currency count as lots, but enter no statistic
        bands.currency is not null and bands.lots >= settings.minimum_group as has_estimates,
        bands.currency is not null and bands.priced_lots >= settings.minimum_group as has_prices
    from bands
    cross join dim_settings as settings
),
final as (
    select
        sized_bands.domain_id,
        source_names.domain_name,
        sized_bands.repair_band,
        sized_bands.lots,
        sized_bands.priced_lots,
        sized_bands.currency,
        case when sized_bands.has_estimates then round(sized_bands.repair_median * 100) / 100 end as repair_median,
        case when sized_bands.has_estimates then round(sized_bands.pre_accident_median * 100) / 100 end as pre_accident_median,
        case when sized_bands.has_prices then round(sized_bands.price_median * 100) / 100 end as price_median,
        case when sized_bands.has_prices then sized_bands.price_share_median end as price_share_median,
        case when sized_bands.has_prices then sized_bands.total_share_median end as total_share_median,
        case when sized_bands.has_prices then round(sized_bands.margin_median * 100) / 100 end as margin_median,
        sized_bands.below_value_lots,
        case when sized_bands.has_prices then cast(sized_bands.below_value_lots as double) / sized_bands.priced_lots end
            as below_value_share
    from sized_bands
    left join dim_sources as source_names on source_names.domain_id = sized_bands.domain_id
)
select * from final
