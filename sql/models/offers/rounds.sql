with offers as (
    -- attempts is a view: what reads it three times must compute it once
    select * from attempts
),
vehicles_of_lots as (
    -- a vehicle with one lot has the attempts of the lot, and they are one round: a sale that holds is the last of them
    select vehicle_id from offers group by vehicle_id having min(lot_id) < max(lot_id)
),
vehicle_offers as (
    select
        lot_id,
        attempt,
        vehicle_id,
        trust_reason in ('trusted', 'no_price', 'out_of_bounds') as is_sold,
        days_between(sale_day, lead(sale_day) over vehicle_lots) as days_to_next,
        cast(row_number() over vehicle_lots as bigint) as place
    from offers
    inner join vehicles_of_lots using (vehicle_id)
    window vehicle_lots as (
        partition by vehicle_id
        order by sale_date nulls last, lot_id nulls last, attempt nulls last
    )
),
checked_offers as (
    -- a later attempt of the same lot has already undone the sale, so the next offer is of another lot
    select
        vehicle_offers.*,
        is_sold and coalesce(days_to_next <= settings.relisting_days, false) as is_offered_again
    from vehicle_offers
    cross join dim_settings as settings
),
vehicle_rounds as (
    -- after a sale that held, a new round begins
    select
        lot_id,
        attempt,
        is_offered_again,
        1 + count(case when is_sold and not is_offered_again then 1 end) over earlier as vehicle_round,
        place - coalesce(max(case when is_sold and not is_offered_again then place end) over earlier, 0) as vehicle_attempt
    from checked_offers
    window earlier as (
        partition by vehicle_id
        order by place nulls last
        rows between unbounded preceding and 1 preceding
    )
),
judged as (
    select
        offers.*,
        coalesce(vehicle_rounds.vehicle_round, 1) as vehicle_round,
        coalesce(vehicle_rounds.vehicle_attempt, attempt) as vehicle_attempt,
        case when vehicle_rounds.is_offered_again then 'offered_again' else trust_reason end as final_reason
    from offers
    left join vehicle_rounds using (lot_id, attempt)
)
select
    lot_id,
    attempt,
    vehicle_id,
    vehicle_round,
    vehicle_attempt,
    domain_id,
    evidence,
    price_id,
    status_id,
    sale_date,
    sale_day,
    case
        when final_reason in ('trusted', 'no_price', 'out_of_bounds') then 'sold'
        when final_reason in ('not_sold', 'relisted', 'offered_again') then 'not_sold'
        when final_reason in ('on_approval', 'upcoming') then final_reason
        else 'unresolved'
    end as outcome,
    amount,
    final_reason as trust_reason,
    doubt,
    buy_now,
    proof,
    days_since_previous,
    previous_amount
from judged
