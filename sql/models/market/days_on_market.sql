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
        vehicle_id,
        domain_id,
        cast(created_at as date) as created_on,
        coalesce(archived, false) as is_left,
        case when archived then cast(archived_at as date) end as left_on
    from lots
),
sold_lots as (
    select lot_id, attempt, vehicle_round, vehicle_attempt, cast(sale_date as date) as sold_on
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
    select cast(as_of as date) as today from dim_settings
),
timed as (
    -- all days count from the creation of the lot
    select
        days.domain_id,
        vehicles.manufacturer_id,
        vehicles.model_id,
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
    left join vehicles on vehicles.vehicle_id = days.vehicle_id
    left join spans on spans.domain_id = days.domain_id
    left join price_estimates on price_estimates.lot_id = days.lot_id
    left join sold_lots on sold_lots.lot_id = days.lot_id
    left join rounds on rounds.vehicle_id = days.vehicle_id and rounds.vehicle_round = sold_lots.vehicle_round
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
),
grouped as (
    -- kind: what the lots of a row have in common besides their source. Negative days: the feed created the lot after its
    -- sale or end, so its days are unknown.
    select
        levels.level,
        judged.domain_id,
        case levels.level
            when 'make' then coalesce(cast(manufacturer_id as string), '')
            when 'model'
            then coalesce(cast(manufacturer_id as string), '') || '/' || coalesce(cast(model_id as string), '')
            when 'title' then title_brand
            when 'estimate' then estimate_band
            else ''
        end as kind,
        case when levels.level in ('make', 'model') then manufacturer_id end as manufacturer_id,
        case when levels.level = 'model' then model_id end as model_id,
        case when levels.level = 'title' then title_brand end as title_brand,
        case when levels.level = 'estimate' then estimate_band end as estimate_band,
        observed_from,
        observed_to,
        first_age,
        last_age,
        coalesce(last_age >= first_age, false) as is_watched,
        last_age >= first_age and has_ended and is_sold as is_seen_sold,
        last_age >= first_age and has_ended and not is_sold as is_seen_left,
        is_sold,
        attempt,
        vehicle_attempt,
        is_open,
        is_left,
        case when sale_days >= 0 then sale_days end as sale_days,
        case when vehicle_days >= 0 then vehicle_days end as vehicle_days,
        case when is_open and open_days >= 0 then open_days end as open_days,
        case when left_days >= 0 then left_days end as left_days
    from judged
    cross join (values ('source'), ('make'), ('model'), ('title'), ('estimate')) as levels (level)
),
figures as (
    select
        level,
        domain_id,
        kind,
        manufacturer_id,
        model_id,
        title_brand,
        estimate_band,
        observed_from,
        observed_to,
        count(*) filter (where is_watched) as lots,
        count(*) filter (where is_seen_sold) as sold,
        count(*) filter (where is_seen_left) as left_lots,
        count(*) filter (where is_sold) as known_sold,
        count(sale_days) as timed_lots,
        median(sale_days) as sold_days_median,
        percentile_cont(0.25) within group (order by sale_days) as sold_days_p25,
        percentile_cont(0.75) within group (order by sale_days) as sold_days_p75,
        percentile_cont(0.9) within group (order by sale_days) as sold_days_p90,
        avg(attempt) as attempts_mean,
        count(vehicle_days) as timed_vehicles,
        median(vehicle_days) as vehicle_days_median,
        avg(vehicle_attempt) as vehicle_attempts_mean,
        count(*) filter (where is_open) as open_lots,
        count(open_days) as timed_open_lots,
        median(open_days) as open_days_median,
        count(*) filter (where is_left) as known_left,
        count(left_days) as timed_left_lots,
        median(left_days) as left_days_median
    from grouped
    group by all
),
changes as (
    select level, domain_id, kind, first_age as age, 1 as change, 0 as sold from grouped where is_watched
    union all
    select level, domain_id, kind, last_age + 1, -1, 0 from grouped where is_watched
    union all
    select level, domain_id, kind, last_age, 0, 1 from grouped where is_seen_sold
),
ages as (
    select level, domain_id, kind, age, sum(change) as change, cast(sum(sold) as double) as sold
    from changes
    group by all
),
at_risk as (
    select
        *,
        sum(change) over (partition by level, domain_id, kind order by age nulls last) as lots,
        sum(sold) over (partition by level, domain_id, kind) as all_sold
    from ages
),
sale_ages as (
    select
        *,
        min(lots) over upto as fewest_lots,
        -- where all lots of an age are sold, nothing is left to go on with
        max(case when sold = lots then 1 else 0 end) over upto as is_over,
        sum(case when sold < lots then ln(1 - sold / lots) else 0 end) over upto as log_unsold,
        sum(case when sold < lots then sold / (lots * (lots - sold)) else 0 end) over upto as variance
    from at_risk
    where sold > 0
    window upto as (partition by level, domain_id, kind order by age nulls last)
),
unsold as (
    -- Kaplan and Meier's share of lots that are unsold after an age, with Greenwood's variance on the log-log scale;
    -- a billionth more, since a share of exactly a half may come out a little above it
    select
        *,
        case when is_over = 1 then 0 else exp(log_unsold) - 0.000000001 end as share,
        case
            when is_over = 1 then 0
            else exp(log_unsold * exp(1.959963984540054 * sqrt(variance) / abs(log_unsold))) - 0.000000001
        end as share_low,
        case
            when is_over = 1 then 1
            else exp(log_unsold * exp(-1.959963984540054 * sqrt(variance) / abs(log_unsold))) - 0.000000001
        end as share_high
    from sale_ages
    where enough(fewest_lots) and enough(cast(all_sold as bigint))
),
quartiles as (
    select
        level,
        domain_id,
        kind,
        min(age) filter (where share <= 0.75) as days_p25,
        min(age) filter (where share_low <= 0.75) as days_p25_low,
        min(age) filter (where share_high <= 0.75) as days_p25_high,
        min(age) filter (where share <= 0.5) as days_median,
        min(age) filter (where share_low <= 0.5) as days_median_low,
        min(age) filter (where share_high <= 0.5) as days_median_high,
        min(age) filter (where share <= 0.25) as days_p75,
        min(age) filter (where share_low <= 0.25) as days_p75_low,
        min(age) filter (where share_high <= 0.25) as days_p75_high
    from unsold
    group by all
)
select
    level,
    domain_id,
    domain_name,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    title_brand,
    estimate_band,
    observed_from,
    observed_to,
    case when observed_from is not null then lots end as lots,
    case when observed_from is not null then sold end as sold,
    case when observed_from is not null then left_lots end as left_lots,
    days_p25,
    days_p25_low,
    days_p25_high,
    days_median,
    days_median_low,
    days_median_high,
    days_p75,
    days_p75_low,
    days_p75_high,
    known_sold,
    timed_lots,
    case when enough(timed_lots) then sold_days_median end as sold_days_median,
    case when enough(timed_lots) then sold_days_p25 end as sold_days_p25,
    case when enough(timed_lots) then sold_days_p75 end as sold_days_p75,
    case when enough(timed_lots) then sold_days_p90 end as sold_days_p90,
    case when enough(known_sold) then attempts_mean end as attempts_mean,
    timed_vehicles,
    case when enough(timed_vehicles) then vehicle_days_median end as vehicle_days_median,
    case when enough(known_sold) then vehicle_attempts_mean end as vehicle_attempts_mean,
    open_lots,
    case when enough(timed_open_lots) then open_days_median end as open_days_median,
    known_left,
    case when enough(timed_left_lots) then left_days_median end as left_days_median
from figures
left join quartiles using (level, domain_id, kind)
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
