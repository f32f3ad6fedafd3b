with levels as (
    select level from (values (0), (1), (2), (3), (4), (5)) as numbers(level)
),
source_vehicles as (
    select vehicle_id, manufacturer_id from vehicles
),
source_lots as (
    select
        lots.lot_id,
        lots.vehicle_id,
        lots.domain_id,
        source_vehicles.manufacturer_id,
        lot_groups.seller_group,
        lot_groups.title_brand,
        coalesce(lots.seller_reserve_price between 1 and 5000000, false) as has_reserve,
        coalesce(lots.archived, false) as is_archived
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    left join source_vehicles on source_vehicles.vehicle_id = lots.vehicle_id
    where lots.domain_id <> 12
),
last_attempts as (
    select
        lot_id,
        max(attempt) as attempt,
        max_by(trust_reason, attempt) as trust_reason,
        min(case when outcome = 'upcoming' then attempt end) as upcoming_attempt,
        min(case when outcome = 'upcoming' then sale_date end) as sale_date
    from sales
    group by lot_id
),
open_lots as (
    -- a lot that was sold is not offered again, even if its vehicle is offered as another lot
    select
        source_lots.*,
        coalesce(last_attempts.upcoming_attempt, last_attempts.attempt + 1, 1) as attempt,
        last_attempts.sale_date,
        coalesce(
            last_attempts.upcoming_attempt is null
            and last_attempts.trust_reason in ('on_approval', 'too_recent', 'not_seen_after_sale'),
            false
        ) as awaits_result
    from source_lots
    left join last_attempts on last_attempts.lot_id = source_lots.lot_id
    where not source_lots.is_archived
        and coalesce(last_attempts.trust_reason, 'none') not in ('trusted', 'no_price', 'out_of_bounds', 'offered_again')
),
offers as (
    select lot_id, attempt, 0 as offered, 0 as sold from open_lots
    union all
    select lot_id, attempt, 1 as offered, case when outcome = 'sold' then 1 else 0 end as sold
    from sales
    where is_observed and outcome in ('sold', 'not_sold', 'on_approval')
),
kinds as (
    select
        source_lots.domain_id,
        case when offers.attempt = 1 then 'first' else 'later' end as turn,
        source_lots.seller_group,
        source_lots.title_brand,
        source_lots.has_reserve,
        source_lots.manufacturer_id,
        cast(sum(offers.offered) as double) as offered,
        cast(sum(offers.sold) as double) as sold
    from offers
    inner join source_lots on source_lots.lot_id = offers.lot_id
    group by
        source_lots.domain_id,
        case when offers.attempt = 1 then 'first' else 'later' end,
        source_lots.seller_group,
        source_lots.title_brand,
        source_lots.has_reserve,
        source_lots.manufacturer_id
),
named as (
    -- the group of a kind at each level: each level adds a trait to the one above
    select
        kinds.*,
        levels.level,
        cast(kinds.domain_id as string)
            || case when levels.level >= 1 then '/' || kinds.turn else '' end
            || case when levels.level >= 2 then '/' || kinds.seller_group else '' end
            || case when levels.level >= 3 then '/' || kinds.title_brand else '' end
            || case when levels.level >= 4 then '/' || cast(kinds.has_reserve as string) else '' end
            || case when levels.level >= 5 then '/' || coalesce(cast(kinds.manufacturer_id as string), 'unknown') else '' end
            as group_name
    from kinds
    cross join levels
),
placed as (
    select
        *,
        lag(group_name) over (
            partition by domain_id, turn, seller_group, title_brand, has_reserve, manufacturer_id
            order by level nulls last
        ) as name_above
    from named
),
tallies as (
    select level, group_name, name_above, sum(offered) as offered, sum(sold) as sold
    from placed
    group by level, group_name, name_above
),
compared as (
    -- how far the sold lots of a group are from the share of the group above, and the variance that chance gives them
    select
        tallies.level,
        tallies.offered,
        tallies.sold - tallies.offered * above.sold / above.offered as difference,
        tallies.offered * above.sold / above.offered * (1 - above.sold / above.offered)
            * (above.offered - tallies.offered) / (above.offered - 1) as variance
    from tallies
    inner join tallies as above on above.level = tallies.level - 1 and above.group_name = tallies.name_above
    where above.offered > 1
),
correlations as (
    -- more difference than chance gives: the correlation of two attempts of a group, by the method of moments
    select
        level,
        least(
            greatest(
                coalesce(sum(difference * difference - variance) / nullif(sum((offered - 1) * variance), 0), 0), 0
            ),
            0.99
        ) as correlation
    from compared
    where offered > 0
    group by level
),
weighted as (
    -- the share of the group's own attempts in its estimate; the rest is the estimate of the level above
    select
        named.domain_id,
        named.turn,
        named.seller_group,
        named.title_brand,
        named.has_reserve,
        named.manufacturer_id,
        named.level,
        tallies.offered,
        tallies.sold,
        case
            when named.level = 0 then (tallies.sold + 0.5) / (tallies.offered + 1)
            when tallies.offered > 0 then tallies.sold / tallies.offered
            else 0
        end as rate,
        case
            when named.level = 0 then 1
            else coalesce(
                tallies.offered * correlations.correlation / (1 + (tallies.offered - 1) * correlations.correlation), 0
            )
        end as weight,
        case
            when named.level = 0 then 1 / (tallies.offered + 2)
            else coalesce(correlations.correlation / (1 + tallies.offered * correlations.correlation), 0)
        end as spread
    from named
    inner join tallies on tallies.level = named.level and tallies.group_name = named.group_name
    left join correlations on correlations.level = named.level
),
chained as (
    select
        *,
        -- what the levels below leave of this one
        exp(
            coalesce(
                sum(case when level > 0 then ln(1 - weight) end) over (
                    partition by domain_id, turn, seller_group, title_brand, has_reserve, manufacturer_id
                    order by level nulls last
                    rows between 1 following and unbounded following
                ),
                0
            )
        ) as rest
    from weighted
),
pooled as (
    select
        domain_id,
        turn,
        seller_group,
        title_brand,
        has_reserve,
        manufacturer_id,
        max(case when level = 0 then offered end) as source_attempts,
        max(case when level = 5 then offered end) as like_attempts,
        max(case when level = 5 then sold end) as like_sold,
        1 - max(case when level = 5 then weight end) as pooled_share,
        sum(rate * weight * rest) as probability,
        sum(spread * rest * rest) as spread
    from chained
    group by domain_id, turn, seller_group, title_brand, has_reserve, manufacturer_id
),
ranged as (
    -- a 95 % interval on the logit scale
    select
        *,
        ln(probability / (1 - probability)) as logit,
        1.959963984540054 * sqrt(spread / (probability * (1 - probability))) as reach
    from pooled
),
judged as (
    select
        open_lots.*,
        ranged.source_attempts,
        ranged.like_attempts,
        ranged.like_sold,
        ranged.pooled_share,
        ranged.probability,
        ranged.logit,
        ranged.reach,
        case
            when open_lots.awaits_result then 'awaits_result'
            when ranged.source_attempts = 0 then 'not_observed'
            when ranged.source_attempts < settings.minimum_group then 'too_few_attempts'
        end as reason
    from open_lots
    cross join dim_settings as settings
    inner join ranged
        on ranged.domain_id = open_lots.domain_id
        and ranged.turn = case when open_lots.attempt = 1 then 'first' else 'later' end
        and ranged.seller_group = open_lots.seller_group
        and ranged.title_brand = open_lots.title_brand
        and ranged.has_reserve = open_lots.has_reserve
        and ranged.manufacturer_id is not distinct from open_lots.manufacturer_id
),
final as (
    select
        judged.lot_id,
        judged.vehicle_id,
        judged.domain_id,
        source_names.domain_name,
        judged.manufacturer_id,
        manufacturer_names.manufacturer_name,
        judged.attempt,
        judged.sale_date,
        judged.seller_group,
        judged.title_brand,
        judged.has_reserve,
        cast(judged.source_attempts as bigint) as source_attempts,
        cast(judged.like_attempts as bigint) as like_attempts,
        cast(judged.like_sold as bigint) as like_sold,
        case when judged.reason is null then round(judged.probability * 10000) / 10000 end as sell_probability,
        case when judged.reason is null then round(10000 / (1 + exp(judged.reach - judged.logit))) / 10000 end
            as sell_probability_low,
        case when judged.reason is null then round(10000 / (1 + exp(-judged.reach - judged.logit))) / 10000 end
            as sell_probability_high,
        case when judged.reason is null then round(judged.pooled_share * 10000) / 10000 end as pooled_share,
        judged.reason
    from judged
    left join dim_sources as source_names on source_names.domain_id = judged.domain_id
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = judged.manufacturer_id
)
select * from final
