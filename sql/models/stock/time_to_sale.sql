with sold_attempts as (
    select lot_id, attempt, vehicle_id, vehicle_round, vehicle_attempt, cast(sale_date as date) as sale_day
    from sales
    where outcome = 'sold'
),
source_vehicles as (
    select vehicle_id, manufacturer_id, model_id from vehicles
),
source_lots as (
    select
        lot_id,
        vehicle_id,
        domain_id,
        coalesce(archived, false) as is_left,
        cast(created_at as date) as first_day,
        cast(archived_at as date) as left_day
    from lots
),
rounds as (
    -- a round of a vehicle begins with the creation of the first lot offered in it
    select sales.vehicle_id, sales.vehicle_round, min(source_lots.first_day) as first_day
    from sales
    inner join source_lots on source_lots.lot_id = sales.lot_id
    group by sales.vehicle_id, sales.vehicle_round
),
lot_facts as (
    select
        source_lots.domain_id,
        source_vehicles.manufacturer_id,
        source_vehicles.model_id,
        sold_attempts.attempt as attempts,
        sold_attempts.vehicle_attempt as vehicle_attempts,
        case when sold_attempts.lot_id is null and not source_lots.is_left then 1 end as is_open,
        case when source_lots.is_left then 1 end as is_left,
        cast(sold_attempts.sale_day - source_lots.first_day as bigint) as sale_days,
        cast(sold_attempts.sale_day - coalesce(rounds.first_day, source_lots.first_day) as bigint) as vehicle_days,
        case
            when sold_attempts.lot_id is null and not source_lots.is_left
            then cast(cast(clock.as_of as date) - source_lots.first_day as bigint)
        end as open_days,
        case when source_lots.is_left then cast(source_lots.left_day - source_lots.first_day as bigint) end as left_days
    from source_lots
    cross join dim_settings as clock
    left join source_vehicles on source_vehicles.vehicle_id = source_lots.vehicle_id
    left join sold_attempts on sold_attempts.lot_id = source_lots.lot_id
    left join rounds
        on rounds.vehicle_id = sold_attempts.vehicle_id and rounds.vehicle_round = sold_attempts.vehicle_round
),
timed_facts as (
    -- negative days: the feed created the lot after its sale or end, so its days are unknown
    select
        domain_id,
        manufacturer_id,
        model_id,
        attempts,
        vehicle_attempts,
        is_open,
        is_left,
        case when sale_days >= 0 then sale_days end as sale_days,
        case when vehicle_days >= 0 then vehicle_days end as vehicle_days,
        case when open_days >= 0 then open_days end as open_days,
        case when left_days >= 0 then left_days end as left_days
    from lot_facts
),
models as (
    select
        domain_id,
        manufacturer_id,
        model_id,
        count(attempts) as lots_sold,
        count(sale_days) as timed_lots,
        percentile_cont(0.5) within group (order by sale_days) as days_median,
        percentile_cont(0.25) within group (order by sale_days) as days_p25,
        percentile_cont(0.75) within group (order by sale_days) as days_p75,
        percentile_cont(0.9) within group (order by sale_days) as days_p90,
        avg(attempts) as attempts_mean,
        count(vehicle_days) as timed_vehicles,
        percentile_cont(0.5) within group (order by vehicle_days) as vehicle_days_median,
        avg(vehicle_attempts) as vehicle_attempts_mean,
        count(is_open) as open_lots,
        count(open_days) as timed_open_lots,
        percentile_cont(0.5) within group (order by open_days) as open_days_median,
        count(is_left) as left_lots,
        count(left_days) as timed_left_lots,
        percentile_cont(0.5) within group (order by left_days) as left_days_median
    from timed_facts
    group by domain_id, manufacturer_id, model_id
),
final as (
    select
        models.domain_id,
        source_names.domain_name,
        models.manufacturer_id,
        manufacturer_names.manufacturer_name,
        models.model_id,
        model_names.model_name,
        models.lots_sold,
        models.timed_lots,
        case when models.timed_lots >= clock.minimum_group then models.days_median end as days_median,
        case when models.timed_lots >= clock.minimum_group then models.days_p25 end as days_p25,
        case when models.timed_lots >= clock.minimum_group then models.days_p75 end as days_p75,
        case when models.timed_lots >= clock.minimum_group then models.days_p90 end as days_p90,
        case when models.lots_sold >= clock.minimum_group then models.attempts_mean end as attempts_mean,
        models.timed_vehicles,
        case when models.timed_vehicles >= clock.minimum_group then models.vehicle_days_median end
            as vehicle_days_median,
        case when models.lots_sold >= clock.minimum_group then models.vehicle_attempts_mean end
            as vehicle_attempts_mean,
        models.open_lots,
        case when models.timed_open_lots >= clock.minimum_group then models.open_days_median end as open_days_median,
        models.left_lots,
        case when models.timed_left_lots >= clock.minimum_group then models.left_days_median end as left_days_median
    from models
    cross join dim_settings as clock
    left join dim_sources as source_names on source_names.domain_id = models.domain_id
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = models.manufacturer_id
    left join dim_models as model_names on model_names.model_id = models.model_id
)
select * from final
