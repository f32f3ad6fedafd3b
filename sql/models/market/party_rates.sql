with trials as (
    select level, domain_id, party, 'sell_through' as rate, offered as n, sold as k from lots_by_party where offered > 0
    union all
    select level, domain_id, party, 'approval', offered, on_approval from lots_by_party where offered > 0
    union all
    select level, domain_id, party, 'relisting', offered, relisted from lots_by_party where offered > 0
    union all
    select level, domain_id, party, 'reserve_met', compared_reserves, met_reserves
    from lots_by_party
    where compared_reserves > 0
),
sums as (
    select
        level,
        domain_id,
        rate,
        count(*) as parties,
        cast(sum(n) as bigint) as all_n,
        sum(k) / sum(n) as mean,
        sum(cast(n as double) * n) as n_squared,
        sum(cast(k as double) * k / n) as k_squared_by_n
    from trials
    group by level, domain_id, rate
),
spreads as (
    -- Moments of the beta-binomial distribution: the correlation of two attempts of one party. Rates that are all 0 or 1,
    -- and a single party, have none.
    select
        *,
        (
            (k_squared_by_n - all_n * mean * mean) / nullif(mean * (1 - mean), 0) - (parties - 1)
        ) / nullif(all_n - n_squared / all_n - (parties - 1), 0) as correlation
    from sums
),
priors as (
    -- the mean weighs as much as 1 to 999 attempts
    select *, 1 / least(greatest(coalesce(correlation, 0), 0.001), 0.5) - 1 as weight
    from spreads
),
shrunk as (
    select
        level,
        domain_id,
        party,
        rate,
        case when enough(n) then k / n end as raw,
        (k + weight * mean) / (n + weight) as shrunk,
        -- the mean itself rests on no more attempts than the source platform has
        least(n + weight, all_n) as n
    from trials
    inner join priors using (level, domain_id, rate)
    where enough(all_n)
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
)
select
    level,
    domain_id,
    party,
    max(raw) filter (where rate = 'sell_through') as sell_through,
    max(shrunk) filter (where rate = 'sell_through') as sell_through_shrunk,
    max(low) filter (where rate = 'sell_through') as sell_through_low,
    max(high) filter (where rate = 'sell_through') as sell_through_high,
    max(raw) filter (where rate = 'approval') as approval_rate,
    max(shrunk) filter (where rate = 'approval') as approval_rate_shrunk,
    max(low) filter (where rate = 'approval') as approval_rate_low,
    max(high) filter (where rate = 'approval') as approval_rate_high,
    max(raw) filter (where rate = 'relisting') as relisting_rate,
    max(shrunk) filter (where rate = 'relisting') as relisting_rate_shrunk,
    max(low) filter (where rate = 'relisting') as relisting_rate_low,
    max(high) filter (where rate = 'relisting') as relisting_rate_high,
    max(raw) filter (where rate = 'reserve_met') as reserve_met_rate,
    max(shrunk) filter (where rate = 'reserve_met') as reserve_met_rate_shrunk,
    max(low) filter (where rate = 'reserve_met') as reserve_met_rate_low,
    max(high) filter (where rate = 'reserve_met') as reserve_met_rate_high
from intervals
group by level, domain_id, party
