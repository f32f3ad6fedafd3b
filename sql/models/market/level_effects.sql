with placed as (
    select
        prices_by_value.*,
        above_place as place_above,
        -- prices of the value itself show the effect of the level all as price_factors has it; what they leave would count twice
        shared_effect + case when prices_by_value.depth = 0 then 0 else log_left end as log_effect
    from prices_by_value
    left join groups_above
        on groups_above.place = prices_by_value.place and above_depth = prices_by_value.depth - 1
),
compared as (
    -- a group beside all groups of its level that have the same group above them
    select
        *,
        sum(weight) over beside as weight_above,
        sum(weight * log_left) over beside / sum(weight) over beside as log_left_above
    from placed
    window beside as (partition by number, depth, place_above)
),
spreads as (
    -- how far groups lie from the level above beyond the noise of their means, as the analysis of variance has it
    select
        market,
        currency,
        subject,
        depth,
        greatest(
            sum(weight * (log_left - log_left_above) * (log_left - log_left_above) - (1 - weight / weight_above))
            / nullif(sum(weight * (1 - weight / weight_above)), 0),
            0
        ) as spread
    from compared
    group by market, currency, subject, depth
),
weighed as (
    -- how much of a group's own mean counts: all of the level all
    select
        placed.*,
        coalesce(spread, 0) as spread,
        case
            when placed.depth = 0 then 1
            when coalesce(spread, 0) = 0 then 0
            else spread / (spread + 1 / weight)
        end as own_weight
    from placed
    inner join spreads using (market, currency, subject, depth)
),
whole as (
    select *, log_effect as log_pooled, cast(0 as double) as variance from weighed where depth = 0
),
sources as (
    select
        weighed.*,
        weighed.own_weight * weighed.log_effect + (1 - weighed.own_weight) * above.log_pooled as log_pooled,
        weighed.own_weight / weighed.weight
        + (1 - weighed.own_weight) * (1 - weighed.own_weight) * above.variance as variance
    from weighed
    inner join whole as above on above.number = weighed.number and above.place = weighed.place_above
    where weighed.depth = 1
),
makes as (
    select
        weighed.*,
        weighed.own_weight * weighed.log_effect + (1 - weighed.own_weight) * above.log_pooled as log_pooled,
        weighed.own_weight / weighed.weight
        + (1 - weighed.own_weight) * (1 - weighed.own_weight) * above.variance as variance
    from weighed
    inner join sources as above on above.number = weighed.number and above.place = weighed.place_above
    where weighed.depth = 2
),
models as (
    select
        weighed.*,
        weighed.own_weight * weighed.log_effect + (1 - weighed.own_weight) * above.log_pooled as log_pooled,
        weighed.own_weight / weighed.weight
        + (1 - weighed.own_weight) * (1 - weighed.own_weight) * above.variance as variance
    from weighed
    inner join makes as above on above.number = weighed.number and above.place = weighed.place_above
    where weighed.depth = 3
),
generations as (
    select
        weighed.*,
        weighed.own_weight * weighed.log_effect + (1 - weighed.own_weight) * above.log_pooled as log_pooled,
        weighed.own_weight / weighed.weight
        + (1 - weighed.own_weight) * (1 - weighed.own_weight) * above.variance as variance
    from weighed
    inner join models as above on above.number = weighed.number and above.place = weighed.place_above
    where weighed.depth = 4
),
pooled as (
    select * from whole
    union all
    select * from sources
    union all
    select * from makes
    union all
    select * from models
    union all
    select * from generations
)
select
    market,
    currency,
    subject,
    value,
    place,
    depth,
    prices,
    log_effect,
    own_weight,
    spread,
    log_pooled,
    -- all levels share the error of the effect, and so that of the reference
    shared_deviation * shared_deviation + variance as variance
from pooled
