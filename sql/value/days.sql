-- Which share of the lots like one is sold 30 and 60 days after the feed created them - of its model, make or source, the
-- narrowest that was observed for so long. A row always comes; reason says why shares are missing.
with shares as (
    select
        level,
        case level when 'model' then 1 when 'make' then 2 else 3 end as place,
        concat_ws(' ', manufacturer_name, model_name, 'at ' || domain_name) as "of",
        max(lots) as lots,
        max(sold) filter (where day = 30) as sold_30,
        max(sold_low) filter (where day = 30) as sold_30_low,
        max(sold_high) filter (where day = 30) as sold_30_high,
        max(sold_at_most) filter (where day = 30) as sold_30_at_most,
        max(sold) filter (where day = 60) as sold_60,
        max(sold_low) filter (where day = 60) as sold_60_low,
        max(sold_high) filter (where day = 60) as sold_60_high,
        max(sold_at_most) filter (where day = 60) as sold_60_at_most
    from sold_by_day
    where domain_id = $domain and (
        level = 'source'
        or (level = 'make' and manufacturer_id = $make)
        or (level = 'model' and manufacturer_id = $make and model_id = $model)
    )
    group by all
),
narrowest as (
    select * from shares order by sold_30 is null, place limit 1
),
asked as (
    select 1 as one
)
select
    "of",
    lots,
    sold_30,
    sold_30_low,
    sold_30_high,
    sold_30_at_most,
    sold_60,
    sold_60_low,
    sold_60_high,
    sold_60_at_most,
    (
        select min(quarter_sold_by)
        from days_on_market as days
        where days.domain_id = $domain and days.level = narrowest.level
            and (days.level = 'source' or days.manufacturer_id = $make)
            and (days.level <> 'model' or days.model_id = $model)
    ) as quarter_sold_by,
    case
        when not is_auction($domain) then 'no_auctions'
        when lots is null then 'too_few_lots'
        when sold_30 is null then 'not_observed_for_30_days'
    end as reason
from asked
left join narrowest on true
