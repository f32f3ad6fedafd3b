with price_sums as (
    select
        level,
        domain_id,
        count(log_ratio) as parties,
        sum(price_weight) as weight,
        sum(price_weight * log_ratio) / sum(price_weight) as mean,
        sum(price_weight * log_ratio * log_ratio) as squares,
        sum(price_weight * price_weight) as squared_weight
    from lots_by_party
    group by level, domain_id
),
price_spreads as (
    -- the analysis of variance says how far parties lie apart beyond the noise of their means
    select
        *,
        coalesce(
            greatest((squares - weight * mean * mean - (parties - 1)) / nullif(weight - squared_weight / weight, 0), 0), 0
        ) as spread
    from price_sums
),
scaled as (
    select lots_by_party.*, mean, spread, weight, spread * price_weight + 1 as scale
    from lots_by_party
    inner join price_spreads using (level, domain_id)
)
select
    level,
    domain_id,
    party,
    mean + (scale - 1) / scale * (log_ratio - mean) as log_shrunk,
    1.959963984540054 * sqrt(spread / scale + 1 / (scale * scale) / weight) as half
from scaled
