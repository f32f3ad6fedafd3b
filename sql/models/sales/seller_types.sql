with held_attempts as (
    select
        lot_id,
        attempt,
        -- lots sold before the lake began had left: known prices count, but outcomes only if observed
        case when is_observed then outcome end as outcome,
        price
    from sales
    where outcome in ('sold', 'not_sold', 'on_approval')
),
observed_sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
),
lots_of_types as (
    select domain_id, seller_type, seller_group, currency, count(*) as lots
    from lot_groups
    group by domain_id, seller_type, seller_group, currency
),
sales_of_types as (
    select
        lot_groups.domain_id,
        lot_groups.seller_type,
        lot_groups.seller_group,
        lot_groups.currency,
        count(held_attempts.outcome) as lots_offered,
        count(case when held_attempts.outcome = 'sold' then 1 end) as lots_sold,
        count(held_attempts.price) as priced_lots,
        -- an amount without a known currency counts as a lot, but enters no statistic
        percentile_cont(0.5) within group (
            order by case when lot_groups.currency is not null then held_attempts.price end
        ) as price_median,
        count(price_ratios.price_ratio) as compared_lots,
        percentile_cont(0.5) within group (order by price_ratios.price_ratio) as price_ratio_median
    from held_attempts
    inner join lot_groups on lot_groups.lot_id = held_attempts.lot_id
    left join price_ratios
        on price_ratios.lot_id = held_attempts.lot_id and price_ratios.attempt = held_attempts.attempt
    group by lot_groups.domain_id, lot_groups.seller_type, lot_groups.seller_group, lot_groups.currency
),
final as (
    select
        lots_of_types.domain_id,
        source_names.domain_name,
        lots_of_types.seller_type,
        lots_of_types.seller_group,
        lots_of_types.lots,
        cast(lots_of_types.lots as double) / sum(lots_of_types.lots) over (
            partition by lots_of_types.domain_id, lots_of_types.currency
        ) as share,
        observed_sources.observed_since,
        coalesce(sales_of_types.lots_offered, 0) as lots_offered,
        coalesce(sales_of_types.lots_sold, 0) as lots_sold,
        case
            when sales_of_types.lots_offered >= settings.minimum_group
            then cast(sales_of_types.lots_sold as double) / sales_of_types.lots_offered
        end as sell_through,
        coalesce(sales_of_types.priced_lots, 0) as priced_lots,
        lots_of_types.currency,
        case
            when sales_of_types.priced_lots >= settings.minimum_group then round(sales_of_types.price_median * 100) / 100
        end as price_median,
        coalesce(sales_of_types.compared_lots, 0) as compared_lots,
        case
            when sales_of_types.compared_lots >= settings.minimum_group then sales_of_types.price_ratio_median
        end as price_ratio_median
    from lots_of_types
    cross join dim_settings as settings
    left join sales_of_types
        on sales_of_types.domain_id = lots_of_types.domain_id
        and sales_of_types.seller_type = lots_of_types.seller_type
        and sales_of_types.seller_group = lots_of_types.seller_group
        and sales_of_types.currency is not distinct from lots_of_types.currency
    left join observed_sources on observed_sources.domain_id = lots_of_types.domain_id
    left join dim_sources as source_names on source_names.domain_id = lots_of_types.domain_id
)
select * from final
