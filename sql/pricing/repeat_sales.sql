-- Pairs of sales of one vehicle, one after the other, by market and by their months. Weights are 1 / variance; change and
-- square are weighted sums of the changes of the log price beyond what age, damage and the like explain, and of their
-- squares. What the fit knows of both sales but their month is taken off.
with sold_again as (
    select vehicle_id from price_inputs where price is not null group by vehicle_id having count(*) > 1
),
inputs as materialized (
    select * from price_inputs semi join sold_again using (vehicle_id) where price is not null
),
sales as (
    select
        markets.number as market,
        inputs.vehicle_id,
        inputs.priced_at,
        inputs.lot_id,
        date_diff('month', markets.first_month, greatest(inputs.priced_month, markets.first_month)) as month,
        ln(inputs.price) - estimates.log_estimate + effects.log_effect as level,
        (ln(estimates.high_80 / estimates.low_80) / 2.563) ** 2 as variance
    from inputs
    inner join fit.markets as markets on markets.market = inputs.market and markets.currency = inputs.currency
    inner join fit.estimates as estimates on estimates.market = markets.number and estimates.lot = inputs.lot_id
    inner join fit.effects as effects
        on effects.market = markets.number
        and effects.factor = 'month'
        and effects.level = strftime(greatest(inputs.priced_month, markets.first_month), '%Y-%m')
    where estimates.is_left_out = 0
),
pairs as (
    select
        market,
        month as later,
        lag(month) over by_date as earlier,
        level - lag(level) over by_date as change,
        variance + lag(variance) over by_date as variance
    from sales
    window by_date as (partition by market, vehicle_id order by priced_at, lot_id)
)
select
    market,
    earlier as "from",
    later as "to",
    count(*) as pairs,
    sum(1 / variance) as weight,
    sum(change / variance) as change,
    sum(change ** 2 / variance) as square
from pairs
where earlier < later
group by market, earlier, later
order by market, earlier, later
