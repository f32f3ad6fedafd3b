-- description: Each source platform has as many observed attempts and sales in seller_profiles as in sales, of lots with a seller; likewise branch_profiles.
-- severity: error
with parties as (
    select lot_id, 'seller' as level from lots where trim(seller_name) <> ''
    union all
    select lot_id, 'branch' from lots where selling_branch_id is not null or trim(selling_branch_name) <> ''
),
expected as (
    select
        parties.level,
        sales.domain_id,
        count(case when sales.is_observed then 1 end) as offered,
        count(case when sales.is_observed and sales.outcome = 'sold' then 1 end) as sold
    from sales
    inner join parties on parties.lot_id = sales.lot_id
    where sales.outcome in ('sold', 'not_sold', 'on_approval')
    group by parties.level, sales.domain_id
),
profiles as (
    select 'seller' as level, domain_id, offered, sold from seller_profiles
    union all
    select 'branch', domain_id, offered, sold from branch_profiles
),
actual as (
    select level, domain_id, sum(offered) as offered, sum(sold) as sold from profiles group by level, domain_id
),
final as (
    select
        coalesce(expected.level, actual.level) as level,
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        expected.offered as expected_offered,
        actual.offered as actual_offered,
        expected.sold as expected_sold,
        actual.sold as actual_sold
    from expected
    full join actual on actual.level = expected.level and actual.domain_id = expected.domain_id
)
select * from final
where expected_offered is distinct from actual_offered or expected_sold is distinct from actual_sold
