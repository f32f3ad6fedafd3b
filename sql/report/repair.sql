-- What damages and titles take off the price of an auction lot, and what repair takes by the rows of repairs.csv: a line for each
-- damage, each title, and each pair of both that a row names. The discount is one of the median estimate of sound lots on offer, with
-- clean titles where a title is compared. Of the rows that fit, the one that names the damage comes first, then the title, then the
-- size; it speaks for the lots of all sizes for which none comes before it. All is in the currency of most auction prices.
with market as (
    select currency from price_factors where market = 'auction' and factor = 'base' order by prices desc, currency limit 1
),
valid_rows as (
    select table_name, line, valid_from, cells
    from cost_rows
    where coalesce(valid_from <= (select day_of(as_of) from dim_settings), true)
        and coalesce(valid_to >= (select day_of(as_of) from dim_settings), true)
),
rates as (
    select (cells ->> 'from') as from_currency, cast(arg_max(cells ->> 'rate', valid_from) as double) as rate
    from valid_rows
    where table_name = 'exchange' and (cells ->> 'to') = (select currency from market)
    group by from_currency
    union all
    from (select currency, 1 from market)
),
repairs as (
    select
        line,
        lower(cells ->> 'damage') as damage,
        lower(cells ->> 'title') as title,
        lower(cells ->> 'size') as size,
        cast(cells ->> 'amount' as double) as amount,
        (cells ->> 'currency') as from_currency,
        if(damage = '*', 4, 0) + if(title = '*', 2, 0) + if(size = '*', 1, 0) as place
    from valid_rows
    where table_name = 'repairs'
),
effects as (
    -- a damage is compared with sound lots, and a title with clean ones, or not at all
    select factor, level as kind, ln(effect) as log_effect, pow(deviation_95(effect_low, effect_high), 2) as variance, prices
    from price_factors
    where market = 'auction'
        and currency = (select currency from market)
        and case factor
            when 'damage_main_group' then reference in ('none', 'normal_wear', 'minor_dents')
            when 'title_brand' then reference = 'clean'
        end
),
targets as (
    -- what is sound, not known, or stays what it is takes no repair, but by a row that names it
    select kind as damage, '*' as title
    from effects
    where factor = 'damage_main_group' and kind not in ('none', 'normal_wear', 'minor_dents', 'unknown', 'unmapped')
    union
    select '*', kind
    from effects
    where factor = 'title_brand' and kind not in ('clean', 'parts_only', 'non_repairable', 'unknown', 'unmapped')
    union
    select damage, title from repairs where damage <> '*' or title <> '*'
),
wanted as (
    -- sizes that no row names are alike
    select damage, title, unnest((select list_distinct(list_append(list(size), '*')) from repairs)) as size
    from targets
),
fitting as (
    select damage, title, size, unnest([damage, '*']) as of_damage from wanted
),
chosen as (
    select fitting.damage, fitting.title, fitting.size, arg_min(repairs.line, place) as line
    from fitting
    inner join repairs
        on repairs.damage = of_damage
        and repairs.title in (fitting.title, '*')
        and repairs.size in (fitting.size, '*')
    group by fitting.damage, fitting.title, fitting.size
),
sound_lots as (
    select
        estimate,
        offers.title_brand = 'clean' as is_clean,
        coalesce(lower(trim(vehicle_type_name)), '') as vehicle_type,
        coalesce(lower(trim(body_type_name)), '') as body_type
    from lots_on_offer as offers
    inner join lot_groups on lot_groups.lot_id = offers.lot_id and is_sound
    left join vehicles on vehicles.vehicle_id = offers.vehicle_id
    where offers.market = 'auction' and offers.currency = (select currency from market) and estimate is not null
),
kinds as (
    select distinct vehicle_type, body_type, unnest([vehicle_type, '*']) as of_type from sound_lots
),
size_rows as (
    select lower(cells ->> 'vehicle_type') as of_type, lower(cells ->> 'body_type') as of_body, lower(cells ->> 'size') as size
    from valid_rows
    where table_name = 'sizes'
),
sizes as (
    -- the size class of a car, as the costs of lots have it
    select vehicle_type, body_type, arg_min(size, if(of_type = '*', 2, 0) + if(of_body = '*', 1, 0)) as size
    from kinds
    inner join size_rows using (of_type)
    where of_body in (body_type, '*')
    group by vehicle_type, body_type
),
sized_lots as (
    -- all sound lots for damages, and those with a clean title for titles
    select coalesce(named.size, '*') as size, unnest(if(is_clean, [true, false], [false])) as of_title, estimate
    from sound_lots
    left join sizes using (vehicle_type, body_type)
    left join (select distinct size from repairs) as named on named.size = sizes.size
),
discounts as (
    select chosen.damage, chosen.title, line, count(estimate) as lots, median(estimate) as estimate
    from chosen
    left join sized_lots on sized_lots.size = chosen.size and sized_lots.of_title = (chosen.title <> '*')
    group by chosen.damage, chosen.title, line
),
compared as (
    select
        discounts.damage,
        discounts.title,
        repairs.size,
        line,
        repairs.amount,
        from_currency,
        round(repairs.amount * rate, 2) as repair,
        lots,
        case when lots >= minimum_group then discounts.estimate end as estimate,
        -- without a price of a kind, nothing is known of it
        least(
            case when discounts.damage <> '*' then coalesce(of_damage.prices, 0) end,
            case when discounts.title <> '*' then coalesce(of_title.prices, 0) end
        ) as based_on,
        case
            when based_on >= minimum_group then coalesce(of_damage.log_effect, 0) + coalesce(of_title.log_effect, 0)
        end as log_ratio,
        margin_95(sqrt(coalesce(of_damage.variance, 0) + coalesce(of_title.variance, 0))) as half
    from discounts
    inner join repairs using (line)
    left join rates using (from_currency)
    left join effects as of_damage on of_damage.factor = 'damage_main_group' and of_damage.kind = discounts.damage
    left join effects as of_title on of_title.factor = 'title_brand' and of_title.kind = discounts.title
    cross join (select minimum_group from dim_settings)
)
select
    case when damage = '*' then 'any' else damage end as damage,
    case when title = '*' then 'any' else title end as title,
    case when size = '*' then 'any' else size end as size,
    (select currency from market) as currency,
    exp(log_ratio) as ratio,
    exp(log_ratio - half) as ratio_low,
    exp(log_ratio + half) as ratio_high,
    based_on,
    lots,
    estimate,
    (1 - ratio) * estimate as discount,
    (1 - ratio_high) * estimate as discount_low,
    (1 - ratio_low) * estimate as discount_high,
    'repairs.csv:' || line as cost_row,
    amount,
    from_currency,
    repair,
    discount - repair as left_over,
    discount_low - repair as left_low,
    discount_high - repair as left_high,
    case
        when repair is null then 'no rate from ' || from_currency || ' to ' || (select currency from market)
        when left_low > 0 then 'more than repair'
        when left_high < 0 then 'less than repair'
        when left_over is not null then 'not sure'
    end as verdict
from compared
order by left_over desc nulls last, damage, title, size
