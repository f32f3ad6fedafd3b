-- What the numbers of a fit stand for, as tables of the database fit. The variable coded names the columns whose values
-- are levels, segments those by which there is an index, and fewest the prices that a market needs. Gives the markets.
create or replace temp view fit_inputs as
select
    *,
    coalesce(manufacturer_id, -1) as make,
    coalesce(model_id, -1) as model,
    coalesce(generation_id, -1) as generation
from price_inputs;

-- Months before the last 120 are counted as the first one; usual is the usual distance of a year, 10,000 km.
create or replace table fit.markets as
select
    row_number() over (order by market, currency)::double as number,
    market,
    currency,
    cast(greatest(min(priced_month), max(priced_month) - interval 120 month) as date) as first_month,
    date_diff('month', first_month, max(priced_month)) + 1 as months,
    median(odometer_km / age_years) filter (where age_years >= 1) / 10000 as usual
from price_inputs
where price is not null
group by market, currency
having count(*) >= getvariable('fewest');

create or replace table fit.levels as
with found as (
    select market, currency, list(distinct coalesce(cast(columns(getvariable('coded')) as varchar), 'unknown'))
    from price_inputs
    group by market, currency
),
listed as (
    unpivot found on columns(* exclude (market, currency)) into name factor value levels
)
select market, factor, level, row_number() over (partition by market, factor order by level) - 1 as code
from (
    select markets.number as market, factor, unnest(levels) as level
    from listed
    inner join fit.markets as markets using (market, currency)
);

create or replace table fit.segments as
select market, factor as segment, list_position(getvariable('segments'), factor) - 1 as place, code, level
from fit.levels
where place >= 0;

-- The tree of makes, models and generations, which are of depth 0.
create or replace table fit.node_names as
select
    markets.number as market,
    (model is null)::integer + (generation is null)::integer as depth,
    row_number() over (partition by markets.number order by depth, make, model, generation) - 1 as node,
    make,
    model,
    generation
from fit_inputs
inner join fit.markets as markets using (market, currency)
group by grouping sets ((markets.number, make, model, generation), (markets.number, make, model), (markets.number, make));

select
    number,
    market,
    currency,
    first_month::varchar as first,
    list_transform(range(months), lambda place: strftime(first_month + to_months(place::integer), '%Y-%m')) as months,
    coalesce(usual, 0) as usual
from fit.markets
order by number
