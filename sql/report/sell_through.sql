-- The share of offered lots that are sold, of the last 24 months. A month and the two before it together have the counts
-- of based_on and the 95 % interval of Wilson, as far as they were observed.
with counted as (
    select
        *,
        case when sell_through_3m is not null then sum(lots_offered) over last_months end as based_on,
        sum(lots_sold) over last_months / based_on as share,
        3.8415 / based_on as z
    from sell_through
    where level = 'month'
    window last_months as (
        partition by domain_id order by sale_month range between interval 2 month preceding and current row
    )
)
select
    * exclude (share, z),
    sale_month as moment,
    sell_through_3m as value,
    (share + z / 2 - sqrt(z * share * (1 - share) + z * z / 4)) / (1 + z) as interval_low,
    (share + z / 2 + sqrt(z * share * (1 - share) + z * z / 4)) / (1 + z) as interval_high,
    case
        when sale_month + interval 1 month > (select as_of from dim_settings) then 'so far'
        when observed = 'part' then 'in part'
    end as state
from counted
where observed in ('whole', 'part') and sale_month > (select max(sale_month) from sell_through) - interval 24 month
order by domain_id, sale_month
