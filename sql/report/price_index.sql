-- The price level of auction lots that are alike, by month: of all with the plain median beside it, and by source. The
-- median is scaled so that its average over the prices of the months is that of the index.
with known as (
    select *, case when is_complete then null else 'so far' end as state
    from price_index
    where market = 'auction' and segment in ('all', 'source')
        and currency = (select currency from price_factors where market = 'auction' and factor = 'base' order by prices desc limit 1)
),
scaled as (
    select *,
        exp(ln(price_median) + (sum(prices * ln(index)) over whole - sum(prices * ln(price_median)) over whole) / sum(prices) over whole) as plain
    from known
    where segment = 'all' and index is not null and price_median is not null
    window whole as (partition by market)
)
select 'all' as level, 'index of lots that are alike' as line, null as domain_id, priced_month as moment, index as value,
    index_low as interval_low, index_high as interval_high, prices as based_on, state
from known where segment = 'all'
union all
select 'all', 'median of all sales', null, priced_month, plain, null, null, prices, state from scaled
union all
select 'source', name, cast(level as bigint), priced_month, index, index_low, index_high, prices, state
from known where segment = 'source'
order by level, domain_id nulls first, line, moment
