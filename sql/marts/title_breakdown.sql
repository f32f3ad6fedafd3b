with settings as (
    select max_by(minimum_group, started_at) as minimum_group from runs
),
sold_attempts as (
    select lot_id, domain_id, manufacturer_id, model_id, year, price from sales where outcome = 'sold'
),
source_names as (
    select domain_id, max(trim(domain_name)) as domain_name from lots group by domain_id
),
source_lots as (
    select
        lot_id,
        domain_id,
        coalesce(nullif(trim(title_name), ''), 'none') as title_name
    from lots
),
ranked as (
    -- the prices of a model year in order; joined by equality below, so that unknown ones are compared with none
    select
        lot_id,
        domain_id,
        manufacturer_id,
        model_id,
        year,
        price,
        row_number() over (partition by domain_id, manufacturer_id, model_id, year order by price) as place,
        count(*) over (partition by domain_id, manufacturer_id, model_id, year) as prices
    from sold_attempts
    where price is not null
),
middles as (
    -- the three prices of which the median of all but one can be made
    select
        domain_id,
        manufacturer_id,
        model_id,
        year,
        max(case when place = floor(prices / 2) then price end) as low,
        max(case when place = floor(prices / 2) + 1 then price end) as middle,
        max(case when place = floor(prices / 2) + 2 then price end) as high
    from ranked
    group by domain_id, manufacturer_id, model_id, year
),
compared as (
    -- each price against the median of the other ones: against a median that it moves itself, it would look too usual
    select
        ranked.lot_id,
        ranked.price / case
            when ranked.prices % 2 = 0 and ranked.place <= ranked.prices / 2 then middles.middle
            when ranked.prices % 2 = 0 then middles.low
            when ranked.place < (ranked.prices + 1) / 2 then (middles.middle + middles.high) / 2
            when ranked.place > (ranked.prices + 1) / 2 then (middles.low + middles.middle) / 2
            else (middles.low + middles.high) / 2
        end as price_ratio
    from ranked
    cross join settings
    inner join middles
        on middles.domain_id = ranked.domain_id
        and middles.manufacturer_id = ranked.manufacturer_id
        and middles.model_id = ranked.model_id
        and middles.year = ranked.year
    where ranked.prices - 1 >= settings.minimum_group
),
lots_of_titles as (
    select domain_id, title_name, count(*) as lots from source_lots group by domain_id, title_name
),
sales_of_titles as (
    select
        source_lots.domain_id,
        source_lots.title_name,
        count(*) as lots_sold,
        count(sold_attempts.price) as priced_lots,
        percentile_cont(0.5) within group (order by sold_attempts.price) as price_median,
        count(compared.price_ratio) as compared_lots,
        percentile_cont(0.5) within group (order by compared.price_ratio) as price_ratio_median
    from sold_attempts
    inner join source_lots on source_lots.lot_id = sold_attempts.lot_id
    left join compared on compared.lot_id = sold_attempts.lot_id
    group by source_lots.domain_id, source_lots.title_name
),
final as (
    select
        lots_of_titles.domain_id,
        source_names.domain_name,
        lots_of_titles.title_name,
        lots_of_titles.lots,
        cast(lots_of_titles.lots as double) / sum(lots_of_titles.lots) over (partition by lots_of_titles.domain_id) as share,
        coalesce(sales_of_titles.lots_sold, 0) as lots_sold,
        coalesce(sales_of_titles.priced_lots, 0) as priced_lots,
        'USD' as currency,
        case
            when sales_of_titles.priced_lots >= settings.minimum_group then round(sales_of_titles.price_median, 2)
        end as price_median,
        coalesce(sales_of_titles.compared_lots, 0) as compared_lots,
        case
            when sales_of_titles.compared_lots >= settings.minimum_group then sales_of_titles.price_ratio_median
        end as price_ratio_median
    from lots_of_titles
    cross join settings
    left join sales_of_titles
        on sales_of_titles.domain_id = lots_of_titles.domain_id
        and sales_of_titles.title_name = lots_of_titles.title_name
    left join source_names on source_names.domain_id = lots_of_titles.domain_id
)
select * from final
