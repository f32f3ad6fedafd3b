-- description: Three of four listings with a report have a lot in accident_discount. If not, listing ids are probably no lot numbers.
-- severity: warn
with reported as (
    select domain_id, trim(listing_id) as listing_id, vehicle_id
    from inspections
    where gone_at is null
    union
    select domain_id, trim(listing_id) as listing_id, vehicle_id
    from history_reports
    where gone_at is null
),
named as (
    -- a report without a listing is identified by its vehicle
    select distinct
        domain_id,
        listing_id,
        case when listing_id is null or listing_id = '' then vehicle_id end as vehicle_id
    from reported
),
listings as (
    select
        case when domain_id = 12 then 'asking' else 'sale' end as price_kind,
        count(*) as listings
    from named
    group by case when domain_id = 12 then 'asking' else 'sale' end
),
compared as (
    select price_kind, sum(lots) as lots
    from accident_discount
    group by price_kind
),
final as (
    select
        listings.price_kind,
        listings.listings,
        coalesce(compared.lots, 0) as lots
    from listings
    left join compared on compared.price_kind = listings.price_kind
)
select * from final
where lots < 0.75 * listings
