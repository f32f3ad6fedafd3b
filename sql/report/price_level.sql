-- The index of the last whole month of auctions against the month before it.
with months as (
    select *,
        lag(priced_month) over by_month as month_before,
        lag(index) over by_month as index_before,
        ln(index_high / index_low) / 3.92 as deviation,
        lag(ln(index_high / index_low) / 3.92) over by_month as deviation_before
    from price_index
    where market = 'auction' and segment = 'all' and is_complete and index is not null
    window by_month as (partition by currency order by priced_month)
)
select
    priced_month, month_before, prices, index, index_low, index_high,
    abs(index / index_before - 1) as change,
    case when index > index_before then 'more' else 'less' end as direction,
    case
        when abs(ln(index / index_before)) > 1.96 * sqrt(deviation ** 2 + deviation_before ** 2) then 'more'
        else 'no more'
    end as judgement
from months
where index_before is not null
order by priced_month desc, prices desc
limit 1
