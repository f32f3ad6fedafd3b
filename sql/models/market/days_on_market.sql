with levels as (
    select 'source' as level
    union all
    select 'make' as level
    union all
    select 'title' as level
    union all
    select 'estimate' as level
),
numbered_spans as (
    select
        domain_id,
        observed_from,
        observed_to,
        row_number() over (partition by domain_id order by observed_from desc nulls last) as recency
    from observed_spans
),
spans as (
    -- what ended in an earlier break is not known, so only the last span counts
    select
        domain_id,
        observed_from,
        observed_to,
        cast(observed_from as date) as from_day,
        cast(observed_to as date) as to_day
    from numbered_spans
    where recency = 1
),
sold_lots as (
    select lot_id, cast(sale_date as date) as sale_day from sales where outcome = 'sold'
),
source_vehicles as (
    select vehicle_id, manufacturer_id from vehicles
),
source_lots as (
    select
        lots.lot_id,
        lots.domain_id,
        source_vehicles.manufacturer_id,
        lot_groups.title_brand,
        coalesce(price_estimates.estimate_band, 'unknown') as estimate_band,
        cast(lots.created_at as date) as first_day,
        case when lots.archived then cast(lots.archived_at as date) end as left_day
    from lots
    left join source_vehicles on source_vehicles.vehicle_id = lots.vehicle_id
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    left join price_estimates on price_estimates.lot_id = lots.lot_id
    where lots.domain_id <> 12 and lots.created_at is not null
),
lives as (
    -- the first and the last day of a span are watched in part, so a lot is watched on the whole days between them
    select
        source_lots.domain_id,
        source_lots.manufacturer_id,
        source_lots.title_brand,
        source_lots.estimate_band,
        case when sold_lots.sale_day < spans.to_day then 1 else 0 end as is_sold,
        case when sold_lots.lot_id is null and source_lots.left_day < spans.to_day then 1 else 0 end as is_left,
        case
            when source_lots.first_day > spans.from_day then 0
            else cast(spans.from_day - source_lots.first_day as bigint) + 1
        end as first_age,
        case
            when sold_lots.sale_day < spans.to_day then cast(sold_lots.sale_day - source_lots.first_day as bigint)
            when sold_lots.lot_id is null and source_lots.left_day < spans.to_day
            then cast(source_lots.left_day - source_lots.first_day as bigint)
            else cast(spans.to_day - source_lots.first_day as bigint) - 1
        end as last_age
    from source_lots
    inner join spans on spans.domain_id = source_lots.domain_id
    left join sold_lots on sold_lots.lot_id = source_lots.lot_id
),
watched as (
    select
        levels.level,
        lives.domain_id,
        case when levels.level = 'make' then lives.manufacturer_id end as manufacturer_id,
        case when levels.level = 'title' then lives.title_brand end as title_brand,
        case when levels.level = 'estimate' then lives.estimate_band end as estimate_band,
        lives.is_sold,
        lives.is_left,
        lives.first_age,
        lives.last_age
    from lives
    cross join levels
    where lives.last_age >= lives.first_age
),
counts as (
    select
        level,
        domain_id,
        manufacturer_id,
        title_brand,
        estimate_band,
        count(*) as lots,
        cast(sum(is_sold) as bigint) as sold,
        cast(sum(is_left) as bigint) as left_lots
    from watched
    group by level, domain_id, manufacturer_id, title_brand, estimate_band
),
changes as (
    select level, domain_id, manufacturer_id, title_brand, estimate_band, first_age as age, 1 as change, 0 as sold from watched
    union all
    select level, domain_id, manufacturer_id, title_brand, estimate_band, last_age + 1 as age, -1 as change, 0 as sold from watched
    union all
    select level, domain_id, manufacturer_id, title_brand, estimate_band, last_age as age, 0 as change, 1 as sold
    from watched
    where is_sold = 1
),
ages as (
    select
        level,
        domain_id,
        manufacturer_id,
        title_brand,
        estimate_band,
        age,
        sum(change) as change,
        cast(sum(sold) as double) as sold
    from changes
    group by level, domain_id, manufacturer_id, title_brand, estimate_band, age
),
at_risk as (
    select
        level,
        domain_id,
        manufacturer_id,
        title_brand,
        estimate_band,
        age,
        sold,
        sum(change) over (partition by level, domain_id, manufacturer_id, title_brand, estimate_band order by age nulls last) as lots
    from ages
),
sale_ages as (
    select
        level,
        domain_id,
        manufacturer_id,
        title_brand,
        estimate_band,
        age,
        min(lots) over upto as fewest_lots,
        -- where all lots of an age are sold, nothing is left to go on with
        max(case when sold = lots then 1 else 0 end) over upto as is_over,
        sum(case when sold < lots then ln(1 - sold / lots) else 0 end) over upto as log_unsold,
        sum(case when sold < lots then sold / (lots * (lots - sold)) else 0 end) over upto as variance
    from at_risk
    where sold > 0
    window upto as (partition by level, domain_id, manufacturer_id, title_brand, estimate_band order by age nulls last)
),
unsold as (
    -- Kaplan and Meier's share of lots that are unsold after an age, with Greenwood's variance on the log-log scale;
    -- a billionth more, since a share of exactly a half may come out a little above it
    select
        level,
        domain_id,
        manufacturer_id,
        title_brand,
        estimate_band,
        age,
        fewest_lots,
        case when is_over = 1 then 0 else exp(log_unsold) - 0.000000001 end as share,
        case
            when is_over = 1 then 0
            else exp(log_unsold * exp(1.959963984540054 * sqrt(variance) / abs(log_unsold))) - 0.000000001
        end as share_low,
        case
            when is_over = 1 then 1
            else exp(log_unsold * exp(-1.959963984540054 * sqrt(variance) / abs(log_unsold))) - 0.000000001
        end as share_high
    from sale_ages
),
quartiles as (
    select
        unsold.level,
        unsold.domain_id,
        unsold.manufacturer_id,
        unsold.title_brand,
        unsold.estimate_band,
        min(case when unsold.share <= 0.75 then unsold.age end) as days_p25,
        min(case when unsold.share_low <= 0.75 then unsold.age end) as days_p25_low,
        min(case when unsold.share_high <= 0.75 then unsold.age end) as days_p25_high,
        min(case when unsold.share <= 0.5 then unsold.age end) as days_median,
        min(case when unsold.share_low <= 0.5 then unsold.age end) as days_median_low,
        min(case when unsold.share_high <= 0.5 then unsold.age end) as days_median_high,
        min(case when unsold.share <= 0.25 then unsold.age end) as days_p75,
        min(case when unsold.share_low <= 0.25 then unsold.age end) as days_p75_low,
        min(case when unsold.share_high <= 0.25 then unsold.age end) as days_p75_high
    from unsold
    cross join dim_settings as settings
    where unsold.fewest_lots >= settings.minimum_group
    group by unsold.level, unsold.domain_id, unsold.manufacturer_id, unsold.title_brand, unsold.estimate_band
),
final as (
    select
        counts.level,
        counts.domain_id,
        source_names.domain_name,
        counts.manufacturer_id,
        manufacturer_names.manufacturer_name,
        counts.title_brand,
        counts.estimate_band,
        spans.observed_from,
        spans.observed_to,
        counts.lots,
        counts.sold,
        counts.left_lots,
        quartiles.days_p25,
        quartiles.days_p25_low,
        quartiles.days_p25_high,
        quartiles.days_median,
        quartiles.days_median_low,
        quartiles.days_median_high,
        quartiles.days_p75,
        quartiles.days_p75_low,
        quartiles.days_p75_high
    from counts
    cross join dim_settings as settings
    inner join spans on spans.domain_id = counts.domain_id
    left join quartiles
        on quartiles.level = case when counts.sold >= settings.minimum_group then counts.level end
        and quartiles.domain_id = counts.domain_id
        and quartiles.manufacturer_id is not distinct from counts.manufacturer_id
        and quartiles.title_brand is not distinct from counts.title_brand
        and quartiles.estimate_band is not distinct from counts.estimate_band
    left join dim_sources as source_names on source_names.domain_id = counts.domain_id
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = counts.manufacturer_id
)
select * from final
