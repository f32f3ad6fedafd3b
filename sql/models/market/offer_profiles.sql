with observed_sources as (
    select domain_id, min(observed_from) as observed_since from observed_spans group by domain_id
)
select
    level,
    domain_id,
    domain_name,
    party,
    party_name,
    observed_since,
    not enough(offered) as is_pooled,
    offered,
    sold,
    sell_through,
    sell_through_shrunk,
    sell_through_low,
    sell_through_high,
    on_approval,
    approval_rate,
    approval_rate_shrunk,
    approval_rate_low,
    approval_rate_high,
    relisted,
    relisting_rate,
    relisting_rate_shrunk,
    relisting_rate_low,
    relisting_rate_high,
    reserved_lots,
    compared_reserves,
    met_reserves,
    reserve_met_rate,
    reserve_met_rate_shrunk,
    reserve_met_rate_low,
    reserve_met_rate_high,
    case when enough(compared_reserves) then gap_share_median end as reserve_gap_share_median,
    estimated_prices,
    case when enough(estimated_prices) then exp(log_ratio) end as price_to_estimate,
    exp(log_shrunk) as price_to_estimate_shrunk,
    exp(log_shrunk - half) as price_to_estimate_low,
    exp(log_shrunk + half) as price_to_estimate_high,
    timed_lots,
    case when enough(timed_lots) then days_median end as days_median
from lots_by_party
left join party_rates using (level, domain_id, party)
left join party_prices using (level, domain_id, party)
left join observed_sources using (domain_id)
left join dim_sources using (domain_id)
