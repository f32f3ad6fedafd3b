with inspected as (
    -- a finding is 2 for an accident and 1 for none
    select
        domain_id,
        coalesce(trim(listing_id), '') as listing_id,
        vehicle_id,
        case trim(conclusions_accident_status_key) when 'issue' then 2 when 'ok' then 1 end as inspection_finding
    from inspections
    where gone_at is null
),
reported as (
    select
        domain_id,
        coalesce(trim(listing_id), '') as listing_id,
        vehicle_id,
        report_id,
        plausible_date(system_updated_at, last_day) as system_updated_at,
        plausible_date(created_at, last_day) as created_at,
        case when summary_insurance_claim_count >= 0 then summary_insurance_claim_count end as claims
    from history_reports
    cross join dim_settings
    where gone_at is null
),
checked as (
    select
        domain_id,
        coalesce(trim(listing_id), '') as listing_id,
        report_id,
        case trim(result_key) when 'present' then 2 when 'not_present' then 1 end as check_finding
    from checks
    where gone_at is null and trim(type_key) = 'accident_history'
),
counted_claims as (
    select
        domain_id,
        coalesce(trim(listing_id), '') as listing_id,
        report_id,
        count(*) filter (where trim(type_key) = 'insurance_claim') as listed_claims
    from events
    where gone_at is null
    group by all
),
listings as (
    select domain_id, listing_id, vehicle_id from inspected
    union
    select domain_id, listing_id, vehicle_id from reported
),
by_number as (
    select listings.domain_id, listings.listing_id, listings.vehicle_id, lots.lot_id
    from listings
    inner join lots on trim(lots.lot) = listings.listing_id and lots.domain_id = listings.domain_id
    where listings.listing_id <> ''
),
single_lots as (
    select domain_id, vehicle_id, max(lot_id) as lot_id from lots group by domain_id, vehicle_id having count(*) = 1
),
single_listings as (
    select domain_id, vehicle_id, max(listing_id) as listing_id
    from listings
    group by domain_id, vehicle_id
    having count(*) = 1
),
shared_listings as (
    select domain_id, listing_id
    from listings
    where listing_id <> ''
    group by domain_id, listing_id
    having count(*) > 1
),
by_vehicle as (
    -- A report belongs to one listing. So the vehicle identifies the lot only if it has one lot and one listing at the
    -- source.
    select domain_id, listing_id, vehicle_id, lot_id
    from single_listings
    inner join single_lots using (domain_id, vehicle_id)
    anti join shared_listings using (domain_id, listing_id)
    anti join by_number using (domain_id, listing_id)
    anti join by_number as numbered_lots using (lot_id)
),
lot_listings as (
    select domain_id, listing_id, vehicle_id, lot_id from by_number
    union all
    select domain_id, listing_id, vehicle_id, lot_id from by_vehicle
),
lot_reports as (
    select
        lot_listings.lot_id,
        reported.domain_id,
        reported.listing_id,
        reported.report_id,
        reported.claims,
        row_number() over (
            partition by lot_listings.lot_id
            order by
                reported.system_updated_at desc nulls last,
                reported.created_at desc nulls last,
                reported.report_id nulls last
        ) as recency
    from reported
    inner join lot_listings
        on lot_listings.listing_id = reported.listing_id
        and lot_listings.vehicle_id is not distinct from reported.vehicle_id
        and lot_listings.domain_id = reported.domain_id
),
findings as (
    select lot_id, inspection_finding, null as check_finding, null as claims
    from inspected
    inner join lot_listings
        on lot_listings.listing_id = inspected.listing_id
        and lot_listings.vehicle_id is not distinct from inspected.vehicle_id
        and lot_listings.domain_id = inspected.domain_id
    union all
    select lot_id, null, check_finding, null
    from lot_reports
    inner join checked using (domain_id, listing_id, report_id)
    union all
    select lot_id, null, null, coalesce(claims, listed_claims)
    from lot_reports
    left join counted_claims using (domain_id, listing_id, report_id)
    where recency = 1
)
select
    lot_id,
    max(inspection_finding) as inspection_finding,
    max(check_finding) as check_finding,
    case when max(claims) > 3 then 3 else max(claims) end as claims_band
from findings
group by all
