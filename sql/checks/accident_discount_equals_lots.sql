-- description: accident_discount compares every lot whose listing has a report, matched by its number or as the only lot of its vehicle.
-- severity: error
with reported as (
    select domain_id, coalesce(trim(listing_id), '') as listing_id, vehicle_id
    from inspections
    where gone_at is null
    union
    select domain_id, coalesce(trim(listing_id), '') as listing_id, vehicle_id
    from history_reports
    where gone_at is null
),
numbered as (
    select lots.lot_id, lots.domain_id, reported.listing_id
    from lots
    inner join reported on reported.listing_id = trim(lots.lot) and reported.domain_id = lots.domain_id
    where reported.listing_id <> ''
),
pairs as (
    select
        reported.domain_id,
        reported.vehicle_id,
        min(reported.listing_id) as listing_id,
        min(lots.lot_id) as lot_id
    from reported
    inner join lots on lots.vehicle_id = reported.vehicle_id and lots.domain_id = reported.domain_id
    group by reported.domain_id, reported.vehicle_id
    having min(reported.listing_id) = max(reported.listing_id) and min(lots.lot_id) = max(lots.lot_id)
),
unnumbered as (
    select pairs.lot_id, pairs.domain_id
    from pairs
    where not exists (select 1 from numbered where numbered.lot_id = pairs.lot_id)
        and not exists (
            select 1
            from numbered
            where numbered.listing_id = pairs.listing_id and numbered.domain_id = pairs.domain_id
        )
        and not exists (
            select 1
            from reported
            where pairs.listing_id <> ''
                and reported.listing_id = pairs.listing_id
                and reported.domain_id = pairs.domain_id
                and reported.vehicle_id <> pairs.vehicle_id
        )
),
expected_lots as (
    select lot_id, domain_id from numbered
    union
    select lot_id, domain_id from unnumbered
),
expected as (
    select
        case when domain_id = 12 then 'asking' else 'sale' end as price_kind,
        count(*) as lots
    from expected_lots
    group by case when domain_id = 12 then 'asking' else 'sale' end
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
