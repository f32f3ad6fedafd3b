-- description: As many lots are compared as belong to a listing with a report.
-- severity: error
with reported as (
    select domain_id, trim(listing_id) as listing_id
    from inspections
    where gone_at is null
    union
    select domain_id, trim(listing_id) as listing_id
    from history_reports
    where gone_at is null
),
expected as (
    select
        case when lots.domain_id = 12 then 'asking' else 'sale' end as price_kind,
        count(*) as lots
    from lots
    inner join reported on reported.listing_id = trim(lots.lot) and reported.domain_id = lots.domain_id
    group by case when lots.domain_id = 12 then 'asking' else 'sale' end
),
actual as (
    select price_kind, sum(lots) as lots
    from accident_discount
    group by price_kind
),
final as (
    select
        coalesce(expected.price_kind, actual.price_kind) as price_kind,
        coalesce(expected.lots, 0) as expected_lots,
        coalesce(actual.lots, 0) as actual_lots
    from expected
    full join actual on actual.price_kind = expected.price_kind
)
select * from final
where expected_lots <> actual_lots
