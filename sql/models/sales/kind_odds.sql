with offers as (
    select lot_id, next_attempt as attempt, 0 as offered, 0 as sold from auction_lots where next_attempt is not null
    union all
    select lot_id, attempt, 1, case when outcome = 'sold' then 1 else 0 end
    from sales
    where is_observed and outcome in ('sold', 'not_sold', 'on_approval')
),
kinds as (
    -- a lot without a manufacturer counts as one of a manufacturer 'unknown'
    select
        domain_id,
        case when attempt = 1 then 'first' else 'later' end as turn,
        seller_group,
        title_brand,
        has_reserve,
        coalesce(cast(manufacturer_id as string), 'unknown') as manufacturer,
        cast(sum(offered) as double) as offered,
        cast(sum(sold) as double) as sold
    from offers
    inner join auction_lots using (lot_id)
    group by all
),
groups as (
    -- the group of a kind at each level; each level adds a trait to the one above, and a kind is its group at level 5
    select
        *,
        sum(offered) over level_0 as offered_0,
        sum(sold) over level_0 as sold_0,
        sum(offered) over level_1 as offered_1,
        sum(sold) over level_1 as sold_1,
        count(*) over level_1 as kinds_1,
        sum(offered) over level_2 as offered_2,
        sum(sold) over level_2 as sold_2,
        count(*) over level_2 as kinds_2,
        sum(offered) over level_3 as offered_3,
        sum(sold) over level_3 as sold_3,
        count(*) over level_3 as kinds_3,
        sum(offered) over level_4 as offered_4,
        sum(sold) over level_4 as sold_4,
        count(*) over level_4 as kinds_4
    from kinds
    window
        level_0 as (partition by domain_id),
        level_1 as (partition by domain_id, turn),
        level_2 as (partition by domain_id, turn, seller_group),
        level_3 as (partition by domain_id, turn, seller_group, title_brand),
        level_4 as (partition by domain_id, turn, seller_group, title_brand, has_reserve)
),
levels as (
    select 1 as level, offered_1 as offered, sold_1 as sold, kinds_1 as kinds, offered_0 as above, sold_0 / offered_0 as share_above
    from groups
    where offered_0 > 1
    union all
    select 2, offered_2, sold_2, kinds_2, offered_1, sold_1 / offered_1 from groups where offered_1 > 1
    union all
    select 3, offered_3, sold_3, kinds_3, offered_2, sold_2 / offered_2 from groups where offered_2 > 1
    union all
    select 4, offered_4, sold_4, kinds_4, offered_3, sold_3 / offered_3 from groups where offered_3 > 1
    union all
    select 5, offered, sold, 1, offered_4, sold_4 / offered_4 from groups where offered_4 > 1
),
compared as (
    -- How far the sold lots of a group are from the share of the group above, squared, as a multiple of the variance that
    -- chance gives them. Each kind has an equal part of its group, so that a group counts once, by its attempts.
    select
        level,
        1 / kinds as part,
        offered - 1 as others,
        offered / above as share,
        (sold - offered * share_above) * (sold - offered * share_above)
            / nullif(offered * share_above * (1 - share_above) * (above - offered) / (above - 1), 0) as ratio
    from levels
    where offered > 1
),
moments as (
    -- The correlation of two attempts of a group, by the method of moments, and its standard error if chance alone makes
    -- groups differ. Few groups within one above depend on each other: of two, one mirrors the other.
    select
        level,
        sum(part * others * (ratio - 1)) / sum(part * others * others) as correlation,
        sqrt(2 * least(coalesce(sum(part) / nullif(sum(part) - sum(part * share), 0), 2), 2) / sum(part * others * others))
            as error
    from compared
    where ratio is not null
    group by level
),
correlations as (
    -- A trait below two standard errors does not move the odds. For the interval it counts with what it seems to do. A trait
    -- above counts with a standard error more.
    select
        level,
        case when correlation > 2 * error then least(correlation, 0.99) else 0 end as r,
        least(greatest(correlation, 0) + case when correlation > 2 * error then error else 0 end, 0.99) as wide
    from moments
),
correlation_of_levels as (
    select
        coalesce(max(case when level = 1 then r end), 0) as r_1,
        coalesce(max(case when level = 1 then wide end), 0) as wide_1,
        coalesce(max(case when level = 2 then r end), 0) as r_2,
        coalesce(max(case when level = 2 then wide end), 0) as wide_2,
        coalesce(max(case when level = 3 then r end), 0) as r_3,
        coalesce(max(case when level = 3 then wide end), 0) as wide_3,
        coalesce(max(case when level = 4 then r end), 0) as r_4,
        coalesce(max(case when level = 4 then wide end), 0) as wide_4,
        coalesce(max(case when level = 5 then r end), 0) as r_5,
        coalesce(max(case when level = 5 then wide end), 0) as wide_5
    from correlations
),
pooled as (
    -- From level to level, a group's own attempts have a weight in its estimate, and the rest is the estimate of the group
    -- above. The spread is the variance of the estimate.
    select
        *,
        (sold_0 + 0.5) / (offered_0 + 1) as estimate_0,
        1 / (offered_0 + 2) as spread_0,
        offered_1 * r_1 / (1 + (offered_1 - 1) * r_1) as weight_1,
        weight_1 * coalesce(sold_1 / nullif(offered_1, 0), 0) + (1 - weight_1) * estimate_0 as estimate_1,
        wide_1 / (1 + case when r_1 > 0 then offered_1 else 0 end * wide_1) + (1 - weight_1) * (1 - weight_1) * spread_0 as spread_1,
        offered_2 * r_2 / (1 + (offered_2 - 1) * r_2) as weight_2,
        weight_2 * coalesce(sold_2 / nullif(offered_2, 0), 0) + (1 - weight_2) * estimate_1 as estimate_2,
        wide_2 / (1 + case when r_2 > 0 then offered_2 else 0 end * wide_2) + (1 - weight_2) * (1 - weight_2) * spread_1 as spread_2,
        offered_3 * r_3 / (1 + (offered_3 - 1) * r_3) as weight_3,
        weight_3 * coalesce(sold_3 / nullif(offered_3, 0), 0) + (1 - weight_3) * estimate_2 as estimate_3,
        wide_3 / (1 + case when r_3 > 0 then offered_3 else 0 end * wide_3) + (1 - weight_3) * (1 - weight_3) * spread_2 as spread_3,
        offered_4 * r_4 / (1 + (offered_4 - 1) * r_4) as weight_4,
        weight_4 * coalesce(sold_4 / nullif(offered_4, 0), 0) + (1 - weight_4) * estimate_3 as estimate_4,
        wide_4 / (1 + case when r_4 > 0 then offered_4 else 0 end * wide_4) + (1 - weight_4) * (1 - weight_4) * spread_3 as spread_4,
        offered * r_5 / (1 + (offered - 1) * r_5) as weight_5,
        weight_5 * coalesce(sold / nullif(offered, 0), 0) + (1 - weight_5) * estimate_4 as estimate_5,
        wide_5 / (1 + case when r_5 > 0 then offered else 0 end * wide_5) + (1 - weight_5) * (1 - weight_5) * spread_4 as spread_5
    from groups
    cross join correlation_of_levels
)
-- a 95 % interval on the logit scale
select
    domain_id,
    turn,
    seller_group,
    title_brand,
    has_reserve,
    manufacturer,
    offered_0 as source_attempts,
    offered as like_attempts,
    sold as like_sold,
    1 - weight_5 as pooled_share,
    estimate_5 as probability,
    ln(estimate_5 / (1 - estimate_5)) as logit,
    1.959963984540054 * sqrt(spread_5 / (estimate_5 * (1 - estimate_5))) as reach
from pooled
