with digits as (
    select n from (values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) as one_digit(n)
),
offsets as (
    -- 0 to 9999 days: a calendar of 27 years without a gap
    select cast(thousands.n * 1000 + hundreds.n * 100 + tens.n * 10 + ones.n as integer) as days
    from digits as thousands
    cross join digits as hundreds
    cross join digits as tens
    cross join digits as ones
),
clock as (
    -- a run that begins before midnight may see its lots after midnight
    select cast(max(seen_at) as date) as last_day
    from (
        select as_of as seen_at from dim_settings
        union all
        select started_at from passes where stream = 'cars' and state = 'sealed'
    ) as moments
),
changes as (
    select
        lot_id,
        seen_at,
        case when new_value = 'true' then 1 else 0 end as is_leaving,
        case when old_value = 'true' then 1 else 0 end as is_returning
    from lot_changes
    where field = 'archived'
),
changes_by_lot as (
    select lot_id, sum(is_leaving) - sum(is_returning) as leavings from changes group by all
),
seen_lots as (
    -- was_active: whether the lot was active when first seen, from its present state less all later changes
    select
        lots.lot_id,
        lots.domain_id,
        lots.domain_name,
        lots.first_seen_at,
        case when lots.archived then 0 else 1 end + coalesce(changes_by_lot.leavings, 0) as was_active
    from lots
    left join changes_by_lot using (lot_id)
    where lots.first_seen_at is not null
),
sources as (
    select domain_id, max(trim(domain_name)) as domain_name, cast(min(first_seen_at) as date) as first_seen_day
    from seen_lots
    group by all
),
events as (
    -- group by moment: moments of runs and auctions are few compared with lots
    select domain_id, first_seen_at as moment, sum(was_active) as entered, 0 as left_feed, 0 as returned, 0 as relisted
    from seen_lots
    group by all
    union all
    -- a lot cannot leave before it was first seen, even if a clock was set back
    select domain_id, greatest(seen_at, first_seen_at), 0, sum(is_leaving), sum(is_returning), 0
    from changes
    inner join seen_lots using (lot_id)
    group by all
    union all
    select domain_id, sale_date, 0, 0, 0, count(*)
    from sales
    where attempt > 1 and outcome in ('sold', 'not_sold', 'on_approval')
    group by all
),
by_day as (
    select
        domain_id,
        day_of(moment) as day,
        cast(sum(entered) as bigint) as entered,
        cast(sum(left_feed) as bigint) as left_feed,
        cast(sum(returned) as bigint) as returned,
        cast(sum(relisted) as bigint) as relisted
    from events
    group by all
),
calendar as (
    select sources.*, sources.first_seen_day + offsets.days as day
    from sources
    cross join offsets
    cross join clock
    where sources.first_seen_day + offsets.days <= clock.last_day
),
days as (
    select
        calendar.*,
        coalesce(by_day.entered, 0) as entered,
        coalesce(by_day.left_feed, 0) as left_feed,
        coalesce(by_day.returned, 0) as returned,
        coalesce(by_day.relisted, 0) as relisted
    from calendar
    left join by_day on by_day.day = calendar.day and by_day.domain_id is not distinct from calendar.domain_id
)
select
    day,
    domain_id,
    domain_name,
    cast(
        sum(entered + returned - left_feed) over (
            partition by domain_id
            order by day nulls last
            rows between unbounded preceding and current row
        ) as bigint
    ) as active_lots,
    case when day > first_seen_day then entered end as new_lots,
    left_feed as archived_lots,
    relisted as relisted_lots,
    returned as returned_lots,
    day = first_seen_day as first_day
from days
