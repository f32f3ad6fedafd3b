-- description: Each month of a source platform has as many observed attempts, observed sales and prices in price_trends as in sales.
-- severity: error
with expected as (
    select
        sale_month,
        domain_id,
        count(case when is_observed then 1 end) as attempts,
        count(case when is_observed and outcome = 'sold' then 1 end) as sold,
        count(price) as priced
    from sales
    where outcome <> 'upcoming'
    group by sale_month, domain_id
),
actual as (
    select
        sale_month,
        domain_id,
        sum(lots_offered) + sum(lots_unresolved) as attempts,
        sum(lots_sold) as sold,
        sum(priced_lots) as priced
    from price_trends
    group by sale_month, domain_id
),
final as (
    select
        coalesce(expected.sale_month, actual.sale_month) as sale_month,
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.attempts, 0) as expected_attempts,
        coalesce(actual.attempts, 0) as actual_attempts,
        coalesce(expected.sold, 0) as expected_sold,
        coalesce(actual.sold, 0) as actual_sold,
        coalesce(expected.priced, 0) as expected_priced,
        coalesce(actual.priced, 0) as actual_priced
    from expected
    full join actual on actual.sale_month = expected.sale_month and actual.domain_id = expected.domain_id
)
select * from final
where expected_attempts <> actual_attempts or expected_sold <> actual_sold or expected_priced <> actual_priced
