with last_changes as (
    select lot_id, max(seen_at) as seen_at from lot_changes where field = 'odometer_km' group by lot_id
),
readings as (
    -- a reading that the source replaced was a mistake
    select
        lot_cars.vehicle_id,
        day_of(coalesce(last_changes.seen_at, plausible_date(lots.created_at, last_day), lots.first_seen_at)) as read_on,
        odometer_readings.odometer_km
    from lots
    inner join odometer_readings on odometer_readings.lot_id = lots.lot_id
    inner join lot_cars on lot_cars.lot_id = lots.lot_id
    left join last_changes on last_changes.lot_id = lots.lot_id
    cross join dim_settings
    union all
    -- the odometer was read at some time up to then
    select vehicle_id, day_of(plausible_date(created_at, last_day)), vehicle_snapshot_mileage_km
    from inspections
    cross join dim_settings
    where vehicle_snapshot_mileage_km between 1 and 2000000
    union all
    select vehicle_id, day_of(plausible_date(created_at, last_day)), vehicle_snapshot_mileage_km
    from history_reports
    cross join dim_settings
    where vehicle_snapshot_mileage_km between 1 and 2000000
    union all
    select reports.vehicle_id, day_of(plausible_event_date(events.occurred_at, last_day)), events.mileage_km
    from events
    inner join history_reports as reports
        on reports.report_id = events.report_id
        and reports.listing_id is not distinct from events.listing_id
        and reports.domain_id is not distinct from events.domain_id
        and reports.gone_at is not distinct from events.gone_at
    cross join dim_settings
    where length(events.occurred_at_local) >= 10 and events.mileage_km between 1 and 2000000
),
usable as (
    select * from readings where vehicle_id is not null and read_on is not null
),
-- most vehicles have one reading
doubtful as (
    select vehicle_id
    from usable
    group by vehicle_id
    having max(odometer_km) > min(odometer_km) + 1000
),
by_day as (
    -- readings of one day are in no order; the highest of them stands for the day
    select
        usable.*,
        cast(read_on - date '1970-01-01' as bigint) as read_day,
        max(odometer_km) over (partition by usable.vehicle_id, read_on) as day_km
    from usable
    inner join doubtful on doubtful.vehicle_id = usable.vehicle_id
),
neighbours as (
    select
        *,
        last_value(day_km) over (
            partition by vehicle_id order by read_day nulls last range between unbounded preceding and 1 preceding
        ) as km_before,
        last_value(read_day) over (
            partition by vehicle_id order by read_day nulls last range between unbounded preceding and 1 preceding
        ) as day_before,
        first_value(day_km) over (
            partition by vehicle_id order by read_day nulls last range between 1 following and unbounded following
        ) as km_after
    from by_day
),
judged as (
    select
        *,
        -- a drop by 1.609 is one distance in kilometres and in miles: neither reading counts
        coalesce(km_before / day_km between 1.577 and 1.642, false)
        or coalesce(day_km / km_after between 1.577 and 1.642, false) as is_other_unit,
        -- a rise by more than 1,000 km a day is a mistake
        coalesce(day_km - km_before > 1000 * (1 + read_day - day_before), false) as is_leap
    from neighbours
),
floors as (
    select
        *,
        max(case when not is_other_unit and not is_leap then day_km end) over (
            partition by vehicle_id order by read_day nulls last range between unbounded preceding and 1 preceding
        ) as highest_km
    from judged
)
select distinct vehicle_id, read_on, odometer_km, highest_km as odometer_highest_km
from floors
where not is_other_unit and odometer_km < highest_km - 1000
