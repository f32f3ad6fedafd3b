with months as (
    -- has the same months and sources as this mart; all sources are observed as each of them is
    select
        sale_month,
        domain_id,
        case
            when count(*) filter (where observed <> 'whole') = 0 then 'whole'
            when count(*) filter (where observed <> 'none') > 0 then 'part'
            else 'none'
        end as observed,
        case when count(*) filter (where observed <> 'none') > 0 then 1 end as counts
    from sell_through
    where level = 'month'
    group by grouping sets ((sale_month), (sale_month, domain_id))
),
large_enough as (
    -- a handful of prices says more about the lots than about the market
    select
        *,
        left(cast(sale_month as string), 7) as month_name,
        left(cast(cast(sale_month - interval '1' month as date) as string), 7) as name_before,
        case when enough(priced_lots) then price_median end as shown_median
    from sales_by_month
),
compared as (
    select *, shown_median / max(shown_median) over month_before - 1 as price_median_change
    from large_enough
    window month_before as (
        partition by place, currency
        order by sale_month nulls last
        range between interval '1' month preceding and interval '1' month preceding
    )
),
month_effects as (
    select * from group_effects where subject = 'month'
),
market_months as (
    select
        currency,
        priced_month as sale_month,
        ln(index) as log_index,
        deviation_95(index_low, index_high) as deviation,
        ln(1 + index_change) as log_change,
        deviation_95(1 + index_change_low, 1 + index_change_high) as change_deviation
    from price_index
    where market = 'auction' and segment = 'all'
),
indexed as (
    select
        compared.*,
        of_month.effect_level,
        of_month.own_weight,
        log_index + of_month.log_beside_all as log_index,
        margin_95(sqrt(deviation * deviation + of_month.variance_beside_all)) as index_half,
        log_change + of_month.log_beside_all - before.log_beside_all as log_change,
        margin_95(
            sqrt(change_deviation * change_deviation + of_month.variance_beside_all + before.variance_beside_all)
        ) as change_half
    from compared
    left join month_effects as of_month
        on of_month.place = compared.place
        and of_month.currency is not distinct from compared.currency
        and of_month.value = month_name
    left join month_effects as before
        on before.place = compared.place
        and before.currency is not distinct from compared.currency
        and before.value = name_before
    left join market_months
        on market_months.currency = of_month.fit_currency and market_months.sale_month = compared.sale_month
)
select
    groups.level,
    indexed.sale_month,
    groups.domain_id,
    groups.domain_name,
    groups.manufacturer_id,
    groups.manufacturer_name,
    groups.model_id,
    groups.model_name,
    groups.generation_id,
    groups.generation_name,
    observed,
    lots_offered * counts as lots_offered,
    lots_unresolved * counts as lots_unresolved,
    lots_sold * counts as lots_sold,
    lots_sold / nullif(lots_offered, 0) as sell_through,
    priced_lots,
    currency,
    case when enough(priced_lots) then money(price_mean) end as price_mean,
    money(shown_median) as price_median,
    case when enough(priced_lots) then money(price_p10) end as price_p10,
    case when enough(priced_lots) then money(price_p25) end as price_p25,
    case when enough(priced_lots) then money(price_p75) end as price_p75,
    case when enough(priced_lots) then money(price_p90) end as price_p90,
    price_median_change,
    priced_lots_3m,
    case when enough(priced_lots_3m) then money(price_median_3m) end as price_median_3m,
    exp(log_index) as price_index,
    exp(log_index - index_half) as price_index_low,
    exp(log_index + index_half) as price_index_high,
    exp(log_change) - 1 as price_index_change,
    exp(log_change - change_half) - 1 as price_index_change_low,
    exp(log_change + change_half) - 1 as price_index_change_high,
    case when log_index is not null then effect_level end as index_level,
    case when log_index is not null then own_weight end as index_own_weight
from indexed
inner join level_groups as groups on groups.place = indexed.place
inner join months on months.sale_month = indexed.sale_month and months.domain_id is not distinct from groups.domain_id
