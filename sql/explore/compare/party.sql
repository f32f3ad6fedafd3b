-- Figures of a seller or branch of a source, by its name. Rates are shrunk towards those of the source.
with profile as (
    select * from offer_profiles where level = $level and party_name = $name and domain_name = $source
)
select 'Sold of offered (95%)' as figure, 'share' as unit, sell_through_shrunk as value, sell_through_low as low,
    sell_through_high as high, offered as based_on, null as currency
from profile
union all
select 'Waits for the seller’s approval (95%)', 'share', approval_rate_shrunk, approval_rate_low, approval_rate_high, offered, null from profile
union all
select 'Cars that were offered before (95%)', 'share', relisting_rate_shrunk, relisting_rate_low, relisting_rate_high, offered, null from profile
union all
select 'Reserve met (95%)', 'share', reserve_met_rate_shrunk, reserve_met_rate_low, reserve_met_rate_high, compared_reserves, null from profile
union all
select 'Price against the estimate (95%)', 'ratio', price_to_estimate_shrunk, price_to_estimate_low, price_to_estimate_high, estimated_prices, null from profile
union all
select 'Days from listing to sale', 'days', days_median, null, null, timed_lots, null from profile
