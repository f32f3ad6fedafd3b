-- What a car would bring at auction, be it a lot or not, what moves that most against the average lot, and what the same car
-- would bring with each other damage or title. A factor of which nothing is said (null) counts as it is on average, and makes
-- the intervals wider. No row where the make has no price.
with factors as (
    select factor, level, ln(effect) as effect, prices, usual_km_a_year
    from price_factors
    where market = 'auction' and currency = $currency
),
base as (
    select effect, usual_km_a_year from factors where factor = 'base'
),
car as (
    select
        greatest(0, $now - $year) as age,
        case when age < 4 then '0 to 3' when age < 8 then '4 to 7' when age < 13 then '8 to 12' else '13 and more' end as age_band
),
place as (
    -- a state without prices tells nothing
    select level as state, split_part(level, ' ', 1) as country
    from factors
    where factor = 'state' and level = $state and prices > 0
),
said as (
    -- times: what the effect of the level is multiplied by, since those of a make are slopes
    select 'age' as factor, cast(null as varchar) as level, age as number, 1 as times from car
    union all
    select 'mileage', null, $km - usual_km_a_year * age, 1 from car cross join base
    union all
    select 'odometer', case when $km is not null then 'usable' end, null, 1
    union all
    select 'damage_main_group', $damage, null, 1
    union all
    select 'title_brand', $title, null, 1
    union all
    select 'state', max(state), null, 1 from place
    union all
    select 'country', max(country), null, 1 from place
    union all
    select 'month', max(level), null, 1 from factors where factor = 'month'
    union all
    select 'age_by_make', cast($make as varchar), null, (least(age, 25) - 6) / 10 from car
    union all
    select 'mileage_by_make', cast($make as varchar), null, greatest(-1, least(1, ($km - usual_km_a_year * age) / 100000))
    from car
    cross join base
    where $km is not null
    union all
    select 'damage_by_age', $damage || '/' || age_band, null, 1 from car
),
averages as (
    select
        factor,
        sum(prices * effect) / sum(prices) as mean,
        sum(prices * effect * effect) / sum(prices) - (sum(prices * effect) / sum(prices)) ** 2 as variance
    from factors
    where factor not in ('base', 'manufacturer', 'model', 'generation')
    group by factor
),
points as (
    select factor, cast(factors.level as double) as place, effect, number
    from factors
    inner join said using (factor)
    where number is not null
),
lines as (
    -- between two points; beyond the ends it stays what it is there
    select
        factor,
        arg_max(effect, place) filter (where place <= number) as low,
        arg_min(effect, place) filter (where place > number) as high,
        (any_value(number) - max(place) filter (where place <= number))
            / (min(place) filter (where place > number) - max(place) filter (where place <= number)) as share
    from points
    group by factor
),
effects as (
    -- a level without prices has no effect
    select
        averages.factor as name,
        averages.factor || coalesce(': ' || said.level, '') as factor,
        case
            when said.number is not null then coalesce(low + share * (high - low), low, high, 0)
            when said.level is not null then coalesce(factors.effect * times, 0)
            else averages.mean
        end as effect,
        averages.mean,
        case when said.number is null and said.level is null then averages.variance else 0 end as variance
    from averages
    left join said using (factor)
    left join lines using (factor)
    left join factors on factors.factor = averages.factor and factors.level = said.level
),
generation as (
    -- the one that most such cars have
    select coalesce(generation_id, -1) as id
    from price_inputs
    where manufacturer_id = $make and model_id = $model and year = $year
    group by 1
    order by count(*) desc, 1
    limit 1
),
node as (
    -- the effect of the generation, of the model where it has no price, or of the make
    select effect
    from factors
    where factor in ('generation', 'model', 'manufacturer')
        and level in (concat_ws('/', $make, $model, (select id from generation)), concat_ws('/', $make, $model), cast($make as varchar))
    order by length(level) desc
    limit 1
),
alike as (
    select estimates.*, inputs.model_id is not distinct from $model as is_model
    from price_estimates as estimates
    inner join price_inputs as inputs using (lot_id)
    where estimates.market = 'auction' and estimates.currency = $currency and estimates.estimate > 0 and estimates.low_80 > 0
),
widths as (
    -- how far the ends of the intervals lie from the estimate in lots of the model; of all where it has few
    select
        coalesce(avg(ln(low_80 / estimate)), 0) as low_80,
        coalesce(avg(ln(low_50 / estimate)), 0) as low_50,
        coalesce(avg(ln(high_50 / estimate)), 0) as high_50,
        coalesce(avg(ln(high_80 / estimate)), 0) as high_80
    from alike
    where is_model or (select count(*) from alike where is_model) < 20
),
otherwise as (
    select 'damage' as what, level, damage.prices, damage.effect + coalesce(aged.effect, 0) as effect
    from factors as damage
    left join (
        select split_part(level, '/', 1) as level, effect
        from factors
        where factor = 'damage_by_age' and split_part(level, '/', 2) = (select age_band from car)
    ) as aged using (level)
    where damage.factor = 'damage_main_group'
    union all
    select 'title', level, prices, effect from factors where factor = 'title_brand'
),
own as (
    select
        case when name = 'title_brand' then 'title' else 'damage' end as what,
        sum(effect) as effect,
        sum(variance) as variance
    from effects
    where name in ('damage_main_group', 'damage_by_age', 'title_brand')
    group by 1
),
cars as (
    -- the car itself has no level
    select null as what, null as level, null as prices, 0 as other, 0 as less_variance
    union all
    select what, level, prices, otherwise.effect - own.effect, own.variance from otherwise inner join own using (what)
),
sums as (
    select sum(effect) as effect, sum(variance) as variance from effects
),
priced as (
    select
        cars.*,
        base.effect + node.effect + coalesce(sums.effect, 0) + other as log_price,
        -- what is not said of the car moves its price as well
        sqrt(1 + coalesce(sums.variance - less_variance, 0) / coalesce(nullif(((high_80 - low_80) / 2.563) ** 2, 0), 1)) as wider,
        widths.*
    from base
    cross join node
    cross join sums
    cross join widths
    cross join cars
),
bands as (
    select price_band(price) as band, count(*) as prices
    from price_estimates
    where market = 'auction' and currency = $currency and not is_left_out
    group by 1
),
judged as (
    -- as price_estimates tells an interval
    select
        priced.what,
        priced.level,
        priced.prices,
        round(exp(log_price)) as estimate,
        coalesce(bands.prices, 0) >= 20 as has_interval,
        case when has_interval then round(exp(log_price + wider * low_80)) end as low_80,
        case when has_interval then round(exp(log_price + wider * low_50)) end as low_50,
        case when has_interval then round(exp(log_price + wider * high_50)) end as high_50,
        case when has_interval then round(exp(log_price + wider * high_80)) end as high_80
    from priced
    left join bands on bands.band = price_band(round(exp(log_price)))
),
like_prices as (
    select count(*) as prices
    from price_inputs
    where market = 'auction' and currency = $currency and price is not null and manufacturer_id = $make
        and model_id = $model and year between $year - 2 and $year + 2
)
select
    concat_ws(
        ', ',
        $car,
        format('{:,} km', cast(round($km) as bigint)),
        replace(nullif($damage, 'unknown'), '_', ' '),
        replace(nullif($title, 'unknown'), '_', ' '),
        'in ' || regexp_replace($state, '^\S+ ', '')
    ) as of,
    $currency as currency,
    estimate,
    false as is_offered,
    true as is_currency_known,
    nullif(concat_ws(
        '; ',
        case
            when like_prices.prices = 0
            then 'no price of a like car (the model, two model years apart at most) is known, so that the estimate leans on others of the make'
        end,
        case
            when $state is not null and not exists (from place)
            then 'no price is known from ' || regexp_replace($state, '^\S+ ', '') || ', so that the state does not count'
        end,
        case when not has_interval then 'no interval: the class ' || price_band(estimate) || ' has fewer than 20 prices' end
    ), '') as note,
    low_80,
    low_50,
    high_50,
    high_80,
    case when not has_interval then 'few_prices_in_band' end as interval_reason,
    null as price,
    null as buy_now,
    null as buy_now_share,
    null as odometer,
    null as year_origin,
    (select exp(effect - mean) from effects where name = 'state' and factor <> name) as place_factor,
    null as seller_factor,
    coalesce((
        select list({'factor': factor, 'amount': round(estimate * (1 - exp(mean - effect)))} order by abs(effect - mean) desc, factor)
        from effects
        where effect <> mean
    ), [])[1:5] as drivers,
    {
        'prices': (select prices from factors where factor = 'base'),
        'like_prices': like_prices.prices,
        'otherwise': (
            select list({
                'what': what, 'level': level, 'prices': prices,
                'is_own': coalesce(level = if(what = 'damage', $damage, $title), false),
                'estimate': if(enough(prices), estimate, null),
                'low_80': if(enough(prices), low_80, null),
                'high_80': if(enough(prices), high_80, null)
            } order by what, enough(prices) desc, estimate desc, level)
            from judged
            where what is not null
        )
    } as evidence,
    {
        'market': 'auction', 'currency': $currency, 'make': $make, 'model': $model, 'year': $year, 'km': $km,
        'damage': $damage, 'title': $title, 'state': regexp_replace($state, '^\S+ ', ''), 'lot_id': null,
        'domain': null, 'vehicle': null
    } as kind
from judged
cross join like_prices
where what is null
