with sold_attempts as (
    select lot_id, price from sales where outcome = 'sold'
),
lots_of_titles as (
    select domain_id, title_name, title_brand, currency, count(*) as lots
    from lot_groups
    group by domain_id, title_name, title_brand, currency
),
sales_of_titles as (
    select
        lot_groups.domain_id,
        lot_groups.title_name,
        lot_groups.title_brand,
        lot_groups.currency,
        count(*) as lots_sold,
        count(sold_attempts.price) as priced_lots,
        -- an amount without a known currency counts as a lot, but enters no statistic
        percentile_cont(0.5) within group (
            order by case when lot_groups.currency is not null then sold_attempts.price end
        ) as price_median,
        count(price_ratios.price_ratio) as compared_lots,
        percentile_cont(0.5) within group (order by price_ratios.price_ratio) as price_ratio_median
    from sold_attempts
    inner join lot_groups on lot_groups.lot_id = sold_attempts.lot_id
    left join price_ratios on price_ratios.lot_id = sold_attempts.lot_id
    group by lot_groups.domain_id, lot_groups.title_name, lot_groups.title_brand, lot_groups.currency
),
final as (
    select
        lots_of_titles.domain_id,
        source_names.domain_name,
        lots_of_titles.title_name,
        lots_of_titles.title_brand,
        lots_of_titles.lots,
        cast(lots_of_titles.lots as double) / sum(lots_of_titles.lots) over (
            partition by lots_of_titles.domain_id, lots_of_titles.currency
        ) as share,
        coalesce(sales_of_titles.lots_sold, 0) as lots_sold,
        coalesce(sales_of_titles.priced_lots, 0) as priced_lots,
        lots_of_titles.currency,
        case
            when sales_of_titles.priced_lots >= settings.minimum_group then round(sales_of_titles.price_median * 100) / 100
        end as price_median,
        coalesce(sales_of_titles.compared_lots, 0) as compared_lots,
        case
            when sales_of_titles.compared_lots >= settings.minimum_group then sales_of_titles.price_ratio_median
        end as price_ratio_median
    from lots_of_titles
    cross join dim_settings as settings
    left join sales_of_titles
        on sales_of_titles.domain_id = lots_of_titles.domain_id
        and sales_of_titles.title_name = lots_of_titles.title_name
        and sales_of_titles.title_brand = lots_of_titles.title_brand
        and sales_of_titles.currency is not distinct from lots_of_titles.currency
    left join dim_sources as source_names on source_names.domain_id = lots_of_titles.domain_id
)
select * from final
