with past_attempts as (
    -- lots sold before the lake began had left: an unobserved attempt has a month, but its outcome does not count
    select
        domain_id,
        sale_month,
        -- few lots have many attempts, so ten and more are one group
        least(attempt, 10) as attempt,
        attempt = 1 as is_first,
        manufacturer_id,
        model_id,
        year,
        currency,
        case when is_observed then outcome end as outcome,
        is_observed and outcome <> 'unresolved' as is_held,
        trust_reason,
        price,
        days_since_previous,
        amount_change_share
    from sales
    where outcome <> 'upcoming'
),
first_sales as (
    -- the join below is by equality, so a price without currency, manufacturer, model or year is not compared
    select domain_id, manufacturer_id, model_id, year, currency, count(*) as first_lots, median(price) as first_median
    from past_attempts
    where is_held and is_first and price is not null
    group by all
),
compared_attempts as (
    select past_attempts.*, case when enough(first_lots) then price / first_median end as price_ratio
    from past_attempts
    left join first_sales using (domain_id, manufacturer_id, model_id, year, currency)
),
tallies as (
    select
        domain_id,
        sale_month,
        attempt,
        count(*) filter (where is_held) as lots_offered,
        count(*) filter (where outcome = 'unresolved') as lots_unresolved,
        count(*) filter (where outcome = 'sold') as lots_sold,
        count(*) filter (where outcome = 'not_sold') as lots_not_sold,
        count(*) filter (where outcome = 'on_approval') as lots_on_approval,
        count(*) filter (where is_held and is_first) as first_offered,
        count(*) filter (where outcome = 'sold' and is_first) as first_sold,
        count(*) filter (where is_held and trust_reason = 'offered_again') as offered_again_lots,
        median(days_since_previous) filter (where is_held) as days_since_previous_median,
        count(amount_change_share) filter (where is_held) as changed_lots,
        median(amount_change_share) filter (where is_held) as amount_change_share_median,
        count(price_ratio) filter (where is_held) as compared_lots,
        median(price_ratio) filter (where is_held) as price_ratio_to_first_median
    from compared_attempts
    group by grouping sets ((domain_id, sale_month), (domain_id, attempt))
),
months as (
    select
        domain_id,
        sale_month,
        max(
            case
                when observed_from <= sale_month and observed_to >= sale_month + interval '1' month then 2
                when observed_from < observed_to and observed_to > sale_month and observed_from < sale_month + interval '1' month
                then 1
                else 0
            end
        ) as observed
    from tallies
    left join observed_spans using (domain_id)
    where sale_month is not null
    group by all
),
sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
),
levels as (
    -- 1 where the figures of months, of attempts, or of both are told, and otherwise null
    select
        *,
        case when observed > 0 then 1 end as of_month,
        case when attempt is not null then 1 end as of_attempt,
        case when observed > 0 or attempt is not null then 1 end as of_both,
        sum(lots_offered) over last_months as offered_3m,
        sum(lots_sold) over last_months as sold_3m
    from tallies
    left join months using (domain_id, sale_month)
    left join sources using (domain_id)
    where sale_month is not null or lots_offered > 0
    window last_months as (
        partition by domain_id, attempt
        order by sale_month nulls last
        range between interval '2' month preceding and current row
    )
)
select
    case when attempt is null then 'month' else 'attempt' end as level,
    domain_id,
    domain_name,
    sale_month,
    attempt,
    observed_since,
    case observed when 2 then 'whole' when 1 then 'part' when 0 then 'none' end as observed,
    lots_offered * of_both as lots_offered,
    lots_unresolved * of_month as lots_unresolved,
    lots_sold * of_both as lots_sold,
    lots_not_sold * of_both as lots_not_sold,
    lots_on_approval * of_both as lots_on_approval,
    case when enough(lots_offered) then lots_sold / lots_offered end as sell_through,
    first_offered * of_month as first_offered,
    first_sold * of_month as first_sold,
    case when enough(first_offered * of_month) then first_sold / first_offered end as first_sell_through,
    (lots_offered - first_offered) * of_month as later_offered,
    (lots_sold - first_sold) * of_month as later_sold,
    case when enough((lots_offered - first_offered) * of_month) then (lots_sold - first_sold) / (lots_offered - first_offered) end
        as later_sell_through,
    case when enough(offered_3m * of_month) then sold_3m / offered_3m end as sell_through_3m,
    offered_again_lots * of_attempt as offered_again_lots,
    case when enough(lots_offered * of_attempt) then days_since_previous_median end as days_since_previous_median,
    changed_lots * of_attempt as changed_lots,
    case when enough(changed_lots * of_attempt) then amount_change_share_median end as amount_change_share_median,
    compared_lots * of_attempt as compared_lots,
    case when enough(compared_lots * of_attempt) then price_ratio_to_first_median end as price_ratio_to_first_median
from levels
left join dim_sources using (domain_id)
