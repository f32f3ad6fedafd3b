with changes as (
    select level, domain_id, kind, first_age as age, 1 as entered, 0 as stopped, 0 as sold_lots, 0 as left_lots
    from lots_by_level
    where first_age is not null
    union all
    select level, domain_id, kind, last_age + 1, 0, 1, 0, 0 from lots_by_level where first_age is not null
    union all
    select
        level,
        domain_id,
        kind,
        last_age,
        0,
        0,
        case when watch_ended = 'sold' then 1 else 0 end,
        case when watch_ended = 'left' then 1 else 0 end
    from lots_by_level
    where watch_ended <> 'open'
),
ages as (
    select
        level,
        domain_id,
        kind,
        age,
        sum(entered) as entered,
        sum(entered) - sum(stopped) as change,
        cast(sum(sold_lots) as double) as sold_lots,
        cast(sum(left_lots) as double) as left_lots
    from changes
    group by all
),
sizes as (
    select level, domain_id, kind, cast(sum(entered) as bigint) as lots from ages group by all
),
at_risk as (
    select
        *,
        min(age) over (partition by level, domain_id, kind order by age nulls last) as youngest,
        cast(sum(change) over (partition by level, domain_id, kind order by age nulls last) as double) as watched
    from ages
    inner join sizes using (level, domain_id, kind)
    where enough(lots)
),
hazards as (
    -- between these ages nothing changes
    select
        *,
        sold_lots + left_lots as ended,
        -- where all lots of an age end, nothing is left to go on with
        case when sold_lots + left_lots = watched and watched > 0 then 1 else 0 end as is_last,
        case when sold_lots + left_lots < watched then ln(1 - (sold_lots + left_lots) / watched) else 0 end as log_staying
    from at_risk
    where sold_lots + left_lots > 0 or age = youngest or not enough(cast(watched as bigint))
),
remaining as (
    select
        *,
        lead(age) over upto as next_age,
        cast(min(watched) over upto as bigint) as fewest,
        sum(is_last) over upto as lasts,
        sum(log_staying) over upto as log_open
    from hazards
    window upto as (partition by level, domain_id, kind order by age nulls last)
),
steps as (
    select
        *,
        case when lasts > 0 then 0 else exp(log_open) end as open,
        case when lasts > is_last then 0 else exp(log_open - log_staying) end as open_before,
        case when ended > 0 and ended < watched then ended / (watched * (watched - ended)) else 0 end as ended_term
    from remaining
),
incidence as (
    select
        *,
        sum(case when sold_lots > 0 then open_before * sold_lots / watched else 0 end) over upto as sold,
        sum(case when left_lots > 0 then open_before * left_lots / watched else 0 end) over upto as left_unsold
    from steps
    window upto as (partition by level, domain_id, kind order by age nulls last)
),
terms as (
    select
        *,
        case when sold_lots > 0 then open_before * sold_lots / (watched * watched) else 0 end as sold_term,
        case when sold_lots > 0 then open_before * (watched - sold_lots) / watched else 0 end as sold_rest,
        case when left_lots > 0 then open_before * left_lots / (watched * watched) else 0 end as left_term,
        case when left_lots > 0 then open_before * (watched - left_lots) / watched else 0 end as left_rest
    from incidence
),
variances as (
    -- the delta method: over the ages s so far, the sum of (share - share(s))^2 * ended / (watched * (watched - ended))
    -- + open_before^2 * sold * (watched - sold) / watched^3 - 2 * (share - share(s)) * open_before * sold / watched^2.
    -- It is multiplied out, so that each sum runs on from age to age.
    select
        *,
        sold * sold * sum(ended_term) over upto
        - 2 * sold * sum(ended_term * sold + sold_term) over upto
        + sum(ended_term * sold * sold + sold_term * (sold_rest + 2 * sold)) over upto as sold_variance,
        left_unsold * left_unsold * sum(ended_term) over upto
        - 2 * left_unsold * sum(ended_term * left_unsold + left_term) over upto
        + sum(ended_term * left_unsold * left_unsold + left_term * (left_rest + 2 * left_unsold)) over upto
            as left_variance,
        open * open * sum(ended_term) over upto as open_variance
    from terms
    window upto as (partition by level, domain_id, kind order by age nulls last)
),
errors as (
    -- standard errors on the scale log(-log(share)), times the quantile of 95 %; none for a share of 0 or 1
    select
        *,
        case
            when sold between 0.000000001 and 0.999999999
            then 1.959963984540054 * sqrt(greatest(sold_variance, 0)) / (sold * abs(ln(sold)))
        end as sold_error,
        case
            when left_unsold between 0.000000001 and 0.999999999
            then 1.959963984540054 * sqrt(greatest(left_variance, 0)) / (left_unsold * abs(ln(left_unsold)))
        end as left_error,
        case
            when open between 0.000000001 and 0.999999999
            then 1.959963984540054 * sqrt(open_variance) / ((1 - open) * abs(ln(1 - open)))
        end as ended_error
    from variances
)
select
    level,
    domain_id,
    kind,
    age,
    case when lasts = 0 then next_age end as until_age,
    youngest = 0 and enough(fewest) and open_before > 0 as is_known,
    watched,
    sold_lots,
    sold,
    case when sold_error is not null then exp(ln(sold) * exp(sold_error)) end as sold_low,
    case when sold_error is not null then exp(ln(sold) * exp(-sold_error)) end as sold_high,
    1 - open as sold_at_most,
    case when ended_error is not null then exp(ln(1 - open) * exp(ended_error)) end as sold_at_most_low,
    case when ended_error is not null then exp(ln(1 - open) * exp(-ended_error)) end as sold_at_most_high,
    left_unsold,
    case when left_error is not null then exp(ln(left_unsold) * exp(left_error)) end as left_unsold_low,
    case when left_error is not null then exp(ln(left_unsold) * exp(-left_error)) end as left_unsold_high,
    open
from errors
