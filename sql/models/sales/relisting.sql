with observed_sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
),
held_attempts as (
    -- few lots have many attempts, so ten and more are one group
    select
        domain_id,
        manufacturer_id,
        model_id,
        year,
        least(attempt, 10) as attempt,
        currency,
        outcome,
        trust_reason,
        price,
        days_since_previous,
        amount_change_share
    from sales
    where is_observed and outcome in ('sold', 'not_sold', 'on_approval')
),
first_sales as (
    select
        domain_id,
        manufacturer_id,
        model_id,
        year,
        currency,
        count(*) as priced_lots,
        percentile_cont(0.5) within group (order by price) as price_median
    from held_attempts
    where attempt = 1 and price is not null
    group by domain_id, manufacturer_id, model_id, year, currency
),
first_medians as (
    -- the join below is by equality, so a price without currency, manufacturer, model or year is not compared
    select
        first_sales.domain_id,
        first_sales.manufacturer_id,
        first_sales.model_id,
        first_sales.year,
        first_sales.currency,
        first_sales.price_median
    from first_sales
    cross join dim_settings as settings
    where first_sales.priced_lots >= settings.minimum_group
),
attempts as (
    select
        held_attempts.domain_id,
        held_attempts.attempt,
        count(*) as lots_reached,
        count(case when held_attempts.outcome = 'sold' then 1 end) as lots_sold,
        count(case when held_attempts.trust_reason = 'offered_again' then 1 end) as offered_again_lots,
        percentile_cont(0.5) within group (order by held_attempts.days_since_previous) as days_since_previous_median,
        count(held_attempts.amount_change_share) as changed_lots,
        percentile_cont(0.5) within group (order by held_attempts.amount_change_share) as amount_change_share_median,
        count(held_attempts.price / first_medians.price_median) as compared_lots,
        percentile_cont(0.5) within group (order by held_attempts.price / first_medians.price_median)
            as price_ratio_to_first_median
    from held_attempts
    left join first_medians
        on first_medians.domain_id = held_attempts.domain_id
        and first_medians.manufacturer_id = held_attempts.manufacturer_id
        and first_medians.model_id = held_attempts.model_id
        and first_medians.year = held_attempts.year
        and first_medians.currency = held_attempts.currency
    group by held_attempts.domain_id, held_attempts.attempt
),
final as (
    select
        attempts.domain_id,
        source_names.domain_name,
        observed_sources.observed_since,
        attempts.attempt,
        attempts.lots_reached,
        attempts.lots_sold,
        attempts.offered_again_lots,
        case
            when attempts.lots_reached >= settings.minimum_group
            then cast(attempts.lots_sold as double) / attempts.lots_reached
        end as sold_share,
        case when attempts.lots_reached >= settings.minimum_group then attempts.days_since_previous_median end
            as days_since_previous_median,
        attempts.changed_lots,
        case when attempts.changed_lots >= settings.minimum_group then attempts.amount_change_share_median end
            as amount_change_share_median,
        attempts.compared_lots,
        case when attempts.compared_lots >= settings.minimum_group then attempts.price_ratio_to_first_median end
            as price_ratio_to_first_median
    from attempts
    cross join dim_settings as settings
    left join observed_sources on observed_sources.domain_id = attempts.domain_id
    left join dim_sources as source_names on source_names.domain_id = attempts.domain_id
)
select * from final
