with observed_sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
),
parties as (
    -- a lot that names no seller is no lot of an unnamed seller
    select lot_id, 'seller' as level, lower(trim(seller_name)) as party, trim(seller_name) as party_name
    from lots
    where trim(seller_name) <> ''
    union all
    select
        lot_id,
        'branch',
        coalesce(cast(selling_branch_id as string), lower(trim(selling_branch_name))),
        nullif(trim(selling_branch_name), '')
    from lots
    where selling_branch_id is not null or trim(selling_branch_name) <> ''
),
held_attempts as (
    select lot_id, domain_id, attempt, vehicle_attempt, outcome, is_observed, sale_date, amount
    from sales
    where outcome in ('sold', 'not_sold', 'on_approval')
),
offers as (
    select
        lot_id,
        count(*) as offered,
        count(case when outcome = 'sold' then 1 end) as sold,
        count(case when outcome = 'on_approval' then 1 end) as on_approval,
        count(case when vehicle_attempt > 1 then 1 end) as relisted
    from held_attempts
    where is_observed
    group by lot_id
),
reserved as (
    -- the bounds of a price also apply to a reserve
    select lot_id, seller_reserve_price as reserve from lots where seller_reserve_price between 1 and 5000000
),
last_attempts as (
    select
        held_attempts.lot_id,
        held_attempts.amount,
        held_attempts.is_observed,
        reserved.reserve,
        row_number() over (partition by held_attempts.lot_id order by held_attempts.attempt desc nulls last) as recency
    from held_attempts
    inner join reserved on reserved.lot_id = held_attempts.lot_id
),
reserves as (
    select
        lot_id,
        case when amount between 1 and 5000000 then (amount - reserve) / reserve end as gap_share
    from last_attempts
    where recency = 1 and is_observed
),
sold_lots as (
    -- a lot that the feed learned of after its auction has no days
    select
        held_attempts.lot_id,
        case
            when cast(held_attempts.sale_date as date) >= cast(lots.created_at as date)
            then cast(cast(held_attempts.sale_date as date) - cast(lots.created_at as date) as bigint)
        end as days
    from held_attempts
    inner join lots on lots.lot_id = held_attempts.lot_id
    where held_attempts.outcome = 'sold'
),
estimated as (
    -- the logarithm of price / estimate; its weight, 1 / variance, from the interval of 80 %, 2.563 standard deviations wide
    select
        lot_id,
        ln(price / estimate) as log_ratio,
        6.568969 / (ln(high_80 / low_80) * ln(high_80 / low_80)) as weight
    from price_estimates
    where price is not null and low_80 > 0 and high_80 > low_80 and not is_left_out
),
held_lots as (
    select lot_id, max(domain_id) as domain_id from held_attempts group by lot_id
),
counts as (
    select
        parties.level,
        held_lots.domain_id,
        parties.party,
        max(parties.party_name) as party_name,
        cast(coalesce(sum(offers.offered), 0) as bigint) as offered,
        cast(coalesce(sum(offers.sold), 0) as bigint) as sold,
        cast(coalesce(sum(offers.on_approval), 0) as bigint) as on_approval,
        cast(coalesce(sum(offers.relisted), 0) as bigint) as relisted,
        count(reserves.lot_id) as reserved_lots,
        count(reserves.gap_share) as compared_reserves,
        count(case when reserves.gap_share >= 0 then 1 end) as met_reserves,
        percentile_cont(0.5) within group (order by reserves.gap_share) as gap_share_median,
        count(estimated.lot_id) as estimated_prices,
        sum(estimated.weight) as price_weight,
        sum(estimated.weight * estimated.log_ratio) / sum(estimated.weight) as log_ratio,
        count(sold_lots.days) as timed_lots,
        percentile_cont(0.5) within group (order by sold_lots.days) as days_median
    from held_lots
    inner join parties on parties.lot_id = held_lots.lot_id
    left join offers on offers.lot_id = held_lots.lot_id
    left join reserves on reserves.lot_id = held_lots.lot_id
    left join sold_lots on sold_lots.lot_id = held_lots.lot_id
    left join estimated on estimated.lot_id = held_lots.lot_id
    group by parties.level, held_lots.domain_id, parties.party
),
trials as (
    select level, domain_id, party, 'sell_through' as rate, offered as n, sold as k from counts where offered > 0
    union all
    select level, domain_id, party, 'approval', offered, on_approval from counts where offered > 0
    union all
    select level, domain_id, party, 'relisting', offered, relisted from counts where offered > 0
    union all
    select level, domain_id, party, 'reserve_met', compared_reserves, met_reserves
    from counts
    where compared_reserves > 0
),
sums as (
    select
        level,
        domain_id,
        rate,
        count(*) as parties,
        cast(sum(n) as double) as n,
        cast(sum(k) as double) / sum(n) as mean,
        sum(cast(n as double) * n) as n_squared,
        sum(cast(k as double) * k / n) as k_squared_by_n
    from trials
    group by level, domain_id, rate
),
spreads as (
    -- Moments of the beta-binomial distribution: the correlation of two attempts of one party. Rates that are all 0 or 1,
    -- and a single party, have none.
    select
        sums.*,
        (
            (k_squared_by_n - n * mean * mean) / nullif(mean * (1 - mean), 0) - (parties - 1)
        ) / nullif(n - n_squared / n - (parties - 1), 0) as correlation
    from sums
),
priors as (
    -- the mean weighs as much as 1 to 999 attempts
    select
        spreads.level,
        spreads.domain_id,
        spreads.rate,
        spreads.mean,
        spreads.n,
        1 / least(greatest(coalesce(spreads.correlation, 0), 0.001), 0.5) - 1 as weight
    from spreads
    cross join dim_settings as settings
    where spreads.n >= settings.minimum_group
),
shrunk as (
    select
        trials.level,
        trials.domain_id,
        trials.party,
        trials.rate,
        case when trials.n >= settings.minimum_group then cast(trials.k as double) / trials.n end as raw,
        (trials.k + priors.weight * priors.mean) / (trials.n + priors.weight) as shrunk,
        -- the mean itself rests on no more attempts than the source platform has
        least(trials.n + priors.weight, priors.n) as n
    from trials
    cross join dim_settings as settings
    inner join priors
        on priors.level = trials.level and priors.domain_id = trials.domain_id and priors.rate = trials.rate
),
wilson as (
    -- the interval of Wilson for the shrunk rate of so many attempts; 1.96 squared is 3.8415
    select
        *,
        (shrunk + 1.9207294103 / n) / (1 + 3.8414588207 / n) as middle,
        sqrt(3.8414588207 * (shrunk * (1 - shrunk) / n + 0.9603647052 / (n * n))) / (1 + 3.8414588207 / n) as half
    from shrunk
),
intervals as (
    select
        *,
        greatest(least(middle - half, shrunk), 0) as low,
        least(greatest(middle + half, shrunk), 1) as high
    from wilson
),
rates as (
    select
        level,
        domain_id,
        party,
        max(case when rate = 'sell_through' then raw end) as sell_through,
        max(case when rate = 'sell_through' then shrunk end) as sell_through_shrunk,
        max(case when rate = 'sell_through' then low end) as sell_through_low,
        max(case when rate = 'sell_through' then high end) as sell_through_high,
        max(case when rate = 'approval' then raw end) as approval_rate,
        max(case when rate = 'approval' then shrunk end) as approval_rate_shrunk,
        max(case when rate = 'approval' then low end) as approval_rate_low,
        max(case when rate = 'approval' then high end) as approval_rate_high,
        max(case when rate = 'relisting' then raw end) as relisting_rate,
        max(case when rate = 'relisting' then shrunk end) as relisting_rate_shrunk,
        max(case when rate = 'relisting' then low end) as relisting_rate_low,
        max(case when rate = 'relisting' then high end) as relisting_rate_high,
        max(case when rate = 'reserve_met' then raw end) as reserve_met_rate,
        max(case when rate = 'reserve_met' then shrunk end) as reserve_met_rate_shrunk,
        max(case when rate = 'reserve_met' then low end) as reserve_met_rate_low,
        max(case when rate = 'reserve_met' then high end) as reserve_met_rate_high
    from intervals
    group by level, domain_id, party
),
price_sums as (
    select
        level,
        domain_id,
        count(log_ratio) as parties,
        sum(price_weight) as weight,
        sum(price_weight * log_ratio) / sum(price_weight) as mean,
        sum(price_weight * log_ratio * log_ratio) as squares,
        sum(price_weight * price_weight) as squared_weight
    from counts
    group by level, domain_id
),
price_spreads as (
    -- the analysis of variance says how far parties lie apart beyond the noise of their means
    select
        level,
        domain_id,
        mean,
        weight,
        coalesce(
            greatest((squares - weight * mean * mean - (parties - 1)) / nullif(weight - squared_weight / weight, 0), 0), 0
        ) as spread
    from price_sums
),
price_ratios_shrunk as (
    select
        counts.level,
        counts.domain_id,
        counts.party,
        price_spreads.mean
        + price_spreads.spread * counts.price_weight / (price_spreads.spread * counts.price_weight + 1)
        * (counts.log_ratio - price_spreads.mean) as log_shrunk,
        sqrt(
            price_spreads.spread / (price_spreads.spread * counts.price_weight + 1)
            + 1 / ((price_spreads.spread * counts.price_weight + 1) * (price_spreads.spread * counts.price_weight + 1))
            / price_spreads.weight
        ) as deviation
    from counts
    inner join price_spreads on price_spreads.level = counts.level and price_spreads.domain_id = counts.domain_id
    where counts.log_ratio is not null
),
final as (
    select
        counts.level,
        counts.domain_id,
        source_names.domain_name,
        counts.party,
        counts.party_name,
        observed_sources.observed_since,
        counts.offered < settings.minimum_group as is_pooled,
        counts.offered,
        counts.sold,
        rates.sell_through,
        rates.sell_through_shrunk,
        rates.sell_through_low,
        rates.sell_through_high,
        counts.on_approval,
        rates.approval_rate,
        rates.approval_rate_shrunk,
        rates.approval_rate_low,
        rates.approval_rate_high,
        counts.relisted,
        rates.relisting_rate,
        rates.relisting_rate_shrunk,
        rates.relisting_rate_low,
        rates.relisting_rate_high,
        counts.reserved_lots,
        counts.compared_reserves,
        counts.met_reserves,
        rates.reserve_met_rate,
        rates.reserve_met_rate_shrunk,
        rates.reserve_met_rate_low,
        rates.reserve_met_rate_high,
        case when counts.compared_reserves >= settings.minimum_group then counts.gap_share_median end
            as reserve_gap_share_median,
        counts.estimated_prices,
        case when counts.estimated_prices >= settings.minimum_group then exp(counts.log_ratio) end as price_to_estimate,
        exp(price_ratios_shrunk.log_shrunk) as price_to_estimate_shrunk,
        exp(price_ratios_shrunk.log_shrunk - 1.959963984540054 * price_ratios_shrunk.deviation) as price_to_estimate_low,
        exp(price_ratios_shrunk.log_shrunk + 1.959963984540054 * price_ratios_shrunk.deviation) as price_to_estimate_high,
        counts.timed_lots,
        case when counts.timed_lots >= settings.minimum_group then counts.days_median end as days_median
    from counts
    cross join dim_settings as settings
    left join rates
        on rates.level = counts.level and rates.domain_id = counts.domain_id and rates.party = counts.party
    left join price_ratios_shrunk
        on price_ratios_shrunk.level = counts.level
        and price_ratios_shrunk.domain_id = counts.domain_id
        and price_ratios_shrunk.party = counts.party
    left join observed_sources on observed_sources.domain_id = counts.domain_id
    left join dim_sources as source_names on source_names.domain_id = counts.domain_id
)
select * from final
