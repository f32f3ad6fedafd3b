with told as (
    select
        lot_id,
        'price_entry' as event,
        40 as step,
        sale_date as occurred_at,
        'prices' as evidence_table,
        price_id as evidence_id,
        price_id,
        nullif(bid, 0) as amount,
        coalesce(nullif(trim(status_name), ''), 'unknown') as description
    from prices
    union all
    select
        lot_id,
        outcome,
        50,
        sale_date,
        'sales',
        cast(attempt as string),
        price_id,
        amount,
        coalesce(outlier_reason, trust_basis, trust_reason)
    from sales
    union all
    select
        lot_id,
        'archived',
        60,
        archived_at,
        'archived_lots',
        null,
        null,
        null,
        coalesce(nullif(trim(status_name), ''), 'unknown')
    from archived_lots
),
of_vehicles as (
    select
        known_lots.*,
        told.event,
        told.step,
        told.occurred_at,
        told.evidence_table,
        told.evidence_id,
        told.price_id,
        told.amount,
        told.description,
        bool_or(evidence_table = 'sales') over (partition by vehicle_id, told.lot_id, price_id) as is_attempt
    from told
    inner join known_lots on known_lots.lot_id = told.lot_id
    where told.occurred_at is not null
)
select
    vehicle_id,
    domain_id,
    lot_id,
    lot,
    currency,
    event,
    step,
    occurred_at,
    evidence_table,
    evidence_id,
    amount,
    description
from of_vehicles
cross join dim_settings
where
    -- an entry of the price history that decides an attempt is the attempt
    (evidence_table <> 'prices' or price_id is null or not is_attempt)
    -- a condition on the dates of the tables would read them whole for the timeline of one vehicle
    and plausible_date(occurred_at, last_day) is not null
