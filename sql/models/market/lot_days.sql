with spans as (
    -- what ended in an earlier break is not known, so only the last span counts
    select
        domain_id,
        max(observed_from) as observed_from,
        max_by(observed_to, observed_from) as observed_to,
        cast(max(observed_from) as date) as from_day,
        cast(max_by(observed_to, observed_from) as date) as to_day
    from observed_spans
    where is_auction(domain_id)
    group by all
),
days as (
    -- the day of an instant is computed once, as it takes longer than all that is done with it
    select
        lot_id,
        domain_id,
        day_of(plausible_date(created_at, last_day)) as created_on,
        coalesce(archived, false) as is_left,
        case when archived then day_of(plausible_date(archived_at, last_day)) end as left_on
    from lots
    cross join dim_settings
),
sold_lots as (
    select lot_id, attempt, vehicle_round, vehicle_attempt, day_of(sale_date) as sold_on
    from sales
    where outcome = 'sold'
),
rounds as (
    -- a round of a vehicle begins with the creation of the first lot offered in it
    select sales.vehicle_id, sales.vehicle_round, min(days.created_on) as round_on
    from sales
    inner join days using (lot_id)
    group by all
),
clock as (
    select day_of(as_of) as today from dim_settings
),
timed as (
    -- all days count from the creation of the lot
    select
        days.lot_id,
        days.domain_id,
        lot_cars.manufacturer_id,
        lot_cars.model_id,
        lot_groups.title_brand,
        coalesce(price_estimates.estimate_band, 'unknown') as estimate_band,
        spans.observed_from,
        spans.observed_to,
        days_between(created_on, from_day) as from_days,
        days_between(created_on, to_day) as to_days,
        sold_lots.attempt,
        sold_lots.vehicle_attempt,
        sold_lots.lot_id is not null as is_sold,
        is_left,
        days_between(created_on, sold_on) as sale_days,
        days_between(coalesce(round_on, created_on), sold_on) as vehicle_days,
        days_between(created_on, today) as open_days,
        days_between(created_on, left_on) as left_days
    from days
    cross join clock
    inner join lot_groups using (lot_id)
    left join lot_cars on lot_cars.lot_id = days.lot_id
    left join spans on spans.domain_id = days.domain_id
    left join price_estimates on price_estimates.lot_id = days.lot_id
    left join sold_lots on sold_lots.lot_id = days.lot_id
    left join rounds on rounds.vehicle_id = lot_cars.vehicle_id and rounds.vehicle_round = sold_lots.vehicle_round
),
lives as (
    -- the first and the last day of a span are watched in part, so a lot is watched on the whole days between them
    select
        *,
        case when is_sold then sale_days else left_days end as end_days,
        greatest(from_days + 1, 0) as first_age
    from timed
),
judged as (
    select
        *,
        coalesce(end_days < to_days, false) as has_ended,
        case when end_days < to_days then end_days else to_days - 1 end as last_age,
        not is_sold and not is_left as is_open
    from lives
)
select
    lot_id,
    domain_id,
    manufacturer_id,
    model_id,
    title_brand,
    estimate_band,
    observed_from,
    observed_to,
    case when last_age >= first_age then first_age end as first_age,
    case when last_age >= first_age then last_age end as last_age,
    case
        when last_age >= first_age
        then case when not has_ended then 'open' when is_sold then 'sold' else 'left' end
    end as watch_ended,
    is_sold,
    is_open,
    is_left,
    attempt,
    vehicle_attempt,
    -- negative: the feed created the lot after its sale or end, so its days are unknown
    case when sale_days >= 0 then sale_days end as sale_days,
    case when vehicle_days >= 0 then vehicle_days end as vehicle_days,
    case when is_open and open_days >= 0 then open_days end as open_days,
    case when left_days >= 0 then left_days end as left_days
from judged
