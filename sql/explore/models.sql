-- Each model of each make on offer, the most first: lots, auctions of the next seven days, the median estimate at auction in the
-- currency that most of these have, and how fast half of its lots are sold at the source where it has most.
with offers as (
    select
        manufacturer_name, model_name, count(*) as lots,
        count(*) filter (where sale_date <= (select as_of from dim_settings) + interval 7 day) as soon,
        count(stands_out) as stands_out
    from explore.lots_on_offer
    where manufacturer_name is not null
    group by all
),
estimates as (
    select manufacturer_name, model_name, currency, median(estimate) as estimate
    from explore.lots_on_offer
    where market = 'auction' and estimate is not null
    group by manufacturer_name, model_name, currency
    qualify row_number() over (partition by manufacturer_name, model_name order by count(*) desc, currency) = 1
),
days as (
    select
        manufacturer_name, model_name, max_by(half_sold_by, lots) as half_sold_by, max_by(half_sold_by_low, lots) as low,
        max_by(half_sold_by_high, lots) as high
    from days_on_market
    where level = 'model'
    group by all
)
select offers.*, currency, estimate, half_sold_by, low, high
from offers
left join estimates using (manufacturer_name, model_name)
left join days using (manufacturer_name, model_name)
order by manufacturer_name, lots desc, model_name
