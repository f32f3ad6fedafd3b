with ordered_entries as (
    -- order the entries of a lot by day; on one day, the settled entry comes last, and the price history after the others
    select
        *,
        lag(sale_day) over lot_entries as day_before,
        lead(sale_day) over lot_entries as day_after,
        lag(case when status_id = 6 and is_settled then amount end) over lot_entries as amount_before,
        lag(proof) over lot_entries as proof_before,
        min(case when is_settled and amount >= 2 then amount end) over (partition by lot_id) as lowest_amount
    from entries
    window lot_entries as (
        partition by lot_id
        order by
            sale_day nulls last,
            is_settled nulls last,
            (price_id is not null) nulls last,
            sale_date nulls last,
            try_cast(price_id as bigint) nulls first,
            price_id nulls first
    )
),
last_entries as (
    -- Dates at most 3 days apart (over a weekend) are one auction that was moved. Its last entry decides. A sale without an
    -- amount takes the amount that was stated before on the same day.
    select
        *,
        day_after is not null as is_relisted,
        coalesce(amount is null and status_id = 6 and day_before = sale_day and amount_before is not null, false) as takes_before
    from ordered_entries
    where day_after is null or day_after > sale_day + interval '3' day
),
best_entries as (
    select
        lot_id,
        vehicle_id,
        domain_id,
        evidence,
        price_id,
        status_id,
        sale_date,
        sale_day,
        buy_now,
        is_settled,
        is_relisted,
        lowest_amount,
        case when takes_before then amount_before else amount end as amount,
        case when takes_before then greatest(proof, proof_before) else proof end as proof
    from last_entries
),
judged as (
    select
        best_entries.*,
        case
            when proof > 0 and is_relisted then 'relisted'
            when proof = 0 and sale_date > clock.as_of then 'upcoming'
            when proof = 0 and clock.as_of < sale_date + interval '12' hour then 'too_recent'
            when not is_settled then 'not_seen_after_sale'
            when status_id in (4, 6) and is_relisted then 'relisted'
            when status_id in (7, 8) then 'not_sold'
            when status_id = 4 then 'on_approval'
            when status_id is null or status_id <> 6 then 'no_result'
            when amount is null then 'no_price'
            when plausible_price(amount) is null then 'out_of_bounds'
            else 'trusted'
        end as trust_reason,
        -- what no estimate is needed for: a placeholder, and two zeros too many
        case
            when amount < 2 then 'one_dollar'
            when amount between 50 * lowest_amount and 200 * lowest_amount then 'hundred_times_entry'
        end as doubt,
        case when is_settled and doubt is null then plausible_price(amount) end as known_amount
    from best_entries
    cross join dim_settings as clock
)
select
    lot_id,
    vehicle_id,
    domain_id,
    evidence,
    price_id,
    status_id,
    sale_date,
    sale_day,
    amount,
    buy_now,
    proof,
    trust_reason,
    doubt,
    cast(row_number() over lot_attempts as bigint) as attempt,
    days_between(lag(sale_day) over lot_attempts, sale_day) as days_since_previous,
    -- two amounts are compared if both are settled, plausible and not doubted
    case when known_amount is not null then lag(known_amount) over lot_attempts end as previous_amount
from judged
window lot_attempts as (partition by lot_id order by sale_day nulls last)
