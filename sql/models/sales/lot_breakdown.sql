with results as (
    -- lots sold before the lake began had left: known sales and prices count, but rates only use observed attempts
    select
        lot_id,
        max(price) as price,
        count(*) filter (where outcome = 'sold') as known_sold,
        count(*) filter (where is_observed) as lots_offered,
        count(*) filter (where is_observed and outcome = 'sold') as lots_sold
    from sales
    where outcome in ('sold', 'not_sold', 'on_approval')
    group by lot_id
),
counted as (
    select
        domain_id,
        currency,
        title_name,
        title_brand,
        seller_type,
        seller_group,
        count(*) as lots,
        cast(coalesce(sum(known_sold), 0) as bigint) as known_sold,
        cast(coalesce(sum(lots_offered), 0) as bigint) as lots_offered,
        cast(coalesce(sum(lots_sold), 0) as bigint) as lots_sold,
        count(price) as priced_lots,
        median(price) as price_median
    from lot_groups
    left join results using (lot_id)
    group by grouping sets (
        (domain_id, currency, title_name, title_brand),
        (domain_id, currency, seller_type, seller_group)
    )
),
observed_sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
)
select
    case when title_name is null then 'seller_type' else 'title' end as subject,
    domain_id,
    domain_name,
    coalesce(title_name, seller_type) as name,
    coalesce(title_brand, seller_group) as group_name,
    lots,
    lots / sum(lots) over (partition by title_name is null, domain_id, currency) as share,
    observed_since,
    known_sold,
    lots_offered,
    lots_sold,
    case when enough(lots_offered) then lots_sold / lots_offered end as sell_through,
    priced_lots,
    currency,
    -- an amount without a known currency counts as a lot, but enters no statistic
    case when currency is not null and enough(priced_lots) then money(price_median) end as price_median
from counted
left join observed_sources using (domain_id)
left join dim_sources using (domain_id)
