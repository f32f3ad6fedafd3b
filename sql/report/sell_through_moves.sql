-- Sources whose share of sold lots in the last whole month differs from that of the month before by more than chance, which
-- is 1.96 standard errors. Both months were observed as a whole. Lots on approval are left out, since most of them are of
-- the last weeks.
with months as (
    select
        domain_id, domain_name, sale_month, observed, lots_sold,
        lots_sold + lots_not_sold as lots,
        lag(observed) over by_month as observed_before,
        lag(lots_sold) over by_month as sold_before,
        lag(lots_sold + lots_not_sold) over by_month as lots_before
    from sell_through
    where level = 'month' and sale_month + interval 1 month <= (select as_of from dim_settings)
    window by_month as (partition by domain_id order by sale_month)
)
select
    domain_id, domain_name, sale_month, lots, lots_before,
    lots_sold / lots as share,
    sold_before / lots_before as share_before,
    (lots_sold + sold_before) / (lots + lots_before) as share_both,
    case when share > share_before then 'up' else 'down' end as direction
from months
where sale_month = (select max(sale_month) from months) and observed = 'whole' and observed_before = 'whole'
    and least(lots, lots_before) >= (select minimum_group from dim_settings)
    and abs(share - share_before) > 1.96 * sqrt(share_both * (1 - share_both) * (1 / lots + 1 / lots_before))
order by domain_id
