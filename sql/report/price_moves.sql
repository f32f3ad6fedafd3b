-- The sources, makes, body types and ages whose index moved furthest in the last whole month of auctions, where that is
-- more than chance among so many: three standard errors.
with months as (
    select *,
        lag(index) over by_month as index_before,
        lag(priced_month) over by_month as month_before,
        ln(index_high / index_low) / 3.92 as deviation,
        lag(ln(index_high / index_low) / 3.92) over by_month as deviation_before
    from price_index
    where market = 'auction' and segment <> 'all' and is_complete and index is not null
    window by_month as (partition by currency, segment, level order by priced_month)
)
select
    segment,
    name,
    case
        when name = 'unknown' then 'Lots whose ' || replace(replace(segment, '_band', ''), '_', ' ') || ' is not given'
        when segment = 'age_band' then 'Lots of cars of ' || name || ' years'
        else regexp_replace(name, '_com$', '.com') || ' lots'
    end as lots,
    priced_month, month_before, prices,
    abs(index / index_before - 1) as change,
    case when index > index_before then 'more' else 'less' end as direction
from months
where priced_month = (select max(priced_month) from months) and month_before = priced_month - interval 1 month
    and abs(ln(index / index_before)) > 3 * sqrt(deviation ** 2 + deviation_before ** 2)
order by change desc
limit 3
