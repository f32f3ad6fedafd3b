with past_attempts as (
    select
        lot_id,
        sale_month,
        currency,
        -- lots sold before the lake began had left: known prices count, but outcomes only if observed
        case when is_observed then outcome end as outcome,
        price,
        -- an amount without a known currency counts as a lot, but enters no statistic
        case when currency is not null then price end as known_price
    from sales
    where outcome <> 'upcoming'
),
attempts_by_month as (
    -- each attempt counts for its own month, and its price also for the two months after
    select *, true as is_of_month, price as price_3m, known_price as known_price_3m from past_attempts
    union all
    select
        lot_id,
        cast(sale_month + months_later * interval '1' month as date),
        currency,
        null,
        null,
        null,
        false,
        price,
        known_price
    from past_attempts
    cross join (values (1), (2)) as later_months(months_later)
    where price is not null
)
select
    above_place as place,
    sale_month,
    currency,
    count(*) filter (where outcome <> 'unresolved') as lots_offered,
    count(*) filter (where outcome = 'unresolved') as lots_unresolved,
    count(*) filter (where outcome = 'sold') as lots_sold,
    count(price) as priced_lots,
    avg(known_price) as price_mean,
    median(known_price) as price_median,
    percentile_cont(0.1) within group (order by known_price) as price_p10,
    percentile_cont(0.25) within group (order by known_price) as price_p25,
    percentile_cont(0.75) within group (order by known_price) as price_p75,
    percentile_cont(0.9) within group (order by known_price) as price_p90,
    count(price_3m) as priced_lots_3m,
    median(known_price_3m) as price_median_3m
from attempts_by_month
inner join lot_generations using (lot_id)
inner join groups_above on groups_above.place = generation_place
group by above_place, sale_month, currency
having bool_or(is_of_month)
