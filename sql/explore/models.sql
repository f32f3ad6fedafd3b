-- Each model of each make on offer, the most first: lots, auctions of the next seven days, the median estimate and how fast half
-- of its lots are sold at the source where it has most.
with offers as (
    select
        manufacturer_name, model_name, count(*) as lots,
        count(*) filter (where sale_date <= (select as_of from dim_settings) + interval 7 day) as soon,
        mode(currency) as currency, median(estimate) as estimate, count(stands_out) as stands_out
    from explore.lots_on_offer
    where manufacturer_name is not null
    group by all
),
days as (
    select
        manufacturer_name, model_name, max_by(half_sold_by, lots) as half_sold_by, max_by(half_sold_by_low, lots) as low,
        max_by(half_sold_by_high, lots) as high
    from days_on_market
    where level = 'model'
    group by all
)
select offers.*, half_sold_by, low, high
from offers
left join days using (manufacturer_name, model_name)
order by manufacturer_name, lots desc, model_name
