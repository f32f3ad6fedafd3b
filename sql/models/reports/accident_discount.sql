with source_inspections as (
    select
        domain_id,
        coalesce(trim(listing_id), '') as listing_id,
        vehicle_id,
        trim(conclusions_accident_status_key) as accident_key
    from inspections
    where gone_at is null
),
source_reports as (
    select
        domain_id,
        coalesce(trim(listing_id), '') as listing_id,
        vehicle_id,
        report_id,
        system_updated_at,
        created_at,
        case when summary_insurance_claim_count >= 0 then summary_insurance_claim_count end as claims
    from history_reports
    where gone_at is null
),
source_checks as (
    select domain_id, coalesce(trim(listing_id), '') as listing_id, report_id, trim(result_key) as result_key
    from checks
    where gone_at is null and trim(type_key) = 'accident_history'
),
source_events as (
    select domain_id, coalesce(trim(listing_id), '') as listing_id, report_id, trim(type_key) as type_key
    from events
    where gone_at is null
),
source_lots as (
    select
        lot_id,
        vehicle_id,
        domain_id,
        trim(lot) as lot,
        case when domain_id = 12 and buy_now between 1 and 5000000 then buy_now end as asking
    from lots
),
source_vehicles as (
    select vehicle_id, manufacturer_id, model_id, year
    from vehicles
),
sale_prices as (
    select lot_id, price
    from sales
    where price is not null
),
listings as (
    select domain_id, listing_id, vehicle_id from source_inspections
    union
    select domain_id, listing_id, vehicle_id from source_reports
),
listings_by_number as (
    select listings.domain_id, listings.listing_id, listings.vehicle_id, source_lots.lot_id
    from listings
    inner join source_lots on source_lots.lot = listings.listing_id and source_lots.domain_id = listings.domain_id
    where listings.listing_id <> ''
),
single_lots as (
    select domain_id, vehicle_id, max(lot_id) as lot_id
    from source_lots
    group by domain_id, vehicle_id
    having count(*) = 1
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
listings_by_vehicle as (
    -- A report belongs to one listing. So the vehicle identifies the lot only if it has one lot and one listing at the
    -- source.
    select single_listings.domain_id, single_listings.listing_id, single_listings.vehicle_id, single_lots.lot_id
    from single_listings
    inner join single_lots
        on single_lots.vehicle_id = single_listings.vehicle_id
        and single_lots.domain_id = single_listings.domain_id
    left join shared_listings
        on shared_listings.listing_id = single_listings.listing_id
        and shared_listings.domain_id = single_listings.domain_id
    left join listings_by_number as numbered_listings
        on numbered_listings.listing_id = single_listings.listing_id
        and numbered_listings.domain_id = single_listings.domain_id
    left join listings_by_number as numbered_lots on numbered_lots.lot_id = single_lots.lot_id
    where shared_listings.listing_id is null
        and numbered_listings.listing_id is null
        and numbered_lots.lot_id is null
),
lot_listings as (
    select domain_id, listing_id, vehicle_id, lot_id from listings_by_number
    union all
    select domain_id, listing_id, vehicle_id, lot_id from listings_by_vehicle
),
lot_reports as (
    select
        lot_listings.lot_id,
        source_reports.domain_id,
        source_reports.listing_id,
        source_reports.report_id,
        source_reports.claims,
        row_number() over (
            partition by lot_listings.lot_id
            order by
                source_reports.system_updated_at desc nulls last,
                source_reports.created_at desc nulls last,
                source_reports.report_id nulls last
        ) as recency
    from source_reports
    inner join lot_listings
        on lot_listings.listing_id = source_reports.listing_id
        and lot_listings.vehicle_id is not distinct from source_reports.vehicle_id
        and lot_listings.domain_id = source_reports.domain_id
),
counted_claims as (
    select
        domain_id,
        listing_id,
        report_id,
        count(case when type_key = 'insurance_claim' then 1 end) as claims
    from source_events
    group by domain_id, listing_id, report_id
),
findings as (
    -- finding: 2 accident, 1 no accident
    select
        lot_listings.lot_id,
        case source_inspections.accident_key when 'issue' then 2 when 'ok' then 1 end as inspection_finding,
        cast(null as integer) as check_finding,
        cast(null as bigint) as claims
    from source_inspections
    inner join lot_listings
        on lot_listings.listing_id = source_inspections.listing_id
        and lot_listings.vehicle_id is not distinct from source_inspections.vehicle_id
        and lot_listings.domain_id = source_inspections.domain_id
    union all
    select
        lot_reports.lot_id,
        cast(null as integer) as inspection_finding,
        case source_checks.result_key when 'present' then 2 when 'not_present' then 1 end as check_finding,
        cast(null as bigint) as claims
    from lot_reports
    inner join source_checks
        on source_checks.report_id = lot_reports.report_id
        and source_checks.listing_id = lot_reports.listing_id
        and source_checks.domain_id = lot_reports.domain_id
    union all
    select
        lot_reports.lot_id,
        cast(null as integer) as inspection_finding,
        cast(null as integer) as check_finding,
        coalesce(lot_reports.claims, counted_claims.claims) as claims
    from lot_reports
    left join counted_claims
        on counted_claims.report_id = lot_reports.report_id
        and counted_claims.listing_id = lot_reports.listing_id
        and counted_claims.domain_id = lot_reports.domain_id
    where lot_reports.recency = 1
),
report_facts as (
    select
        lot_id,
        max(inspection_finding) as inspection_finding,
        max(check_finding) as check_finding,
        max(claims) as claims
    from findings
    group by lot_id
),
lot_facts as (
    select
        source_lots.domain_id,
        source_vehicles.manufacturer_id,
        source_vehicles.model_id,
        source_vehicles.year,
        lot_groups.currency,
        case when source_lots.domain_id = 12 then 'asking' else 'sale' end as price_kind,
        case when report_facts.claims > 3 then 3 else report_facts.claims end as claims_band,
        case coalesce(report_facts.inspection_finding, report_facts.check_finding)
            when 2 then 'yes'
            when 1 then 'no'
            else 'unknown'
        end as accident,
        case
            when report_facts.inspection_finding is not null then 'inspection'
            when report_facts.check_finding is not null then 'history_check'
            else 'none'
        end as accident_evidence,
        coalesce(source_lots.asking, sale_prices.price) as price
    from source_lots
    inner join report_facts on report_facts.lot_id = source_lots.lot_id
    inner join lot_groups on lot_groups.lot_id = source_lots.lot_id
    left join source_vehicles on source_vehicles.vehicle_id = source_lots.vehicle_id
    left join sale_prices on sale_prices.lot_id = source_lots.lot_id
),
clean_lots as (
    select
        domain_id,
        manufacturer_id,
        model_id,
        year,
        currency,
        count(*) as priced_lots,
        percentile_cont(0.5) within group (order by price) as price_median
    from lot_facts
    where claims_band = 0 and accident = 'no' and price is not null
    group by domain_id, manufacturer_id, model_id, year, currency
),
compared as (
    select
        lot_facts.price_kind,
        lot_facts.claims_band,
        lot_facts.accident,
        lot_facts.accident_evidence,
        lot_facts.currency,
        lot_facts.price,
        case
            when clean_lots.priced_lots >= settings.minimum_group then lot_facts.price / clean_lots.price_median
        end as price_ratio
    from lot_facts
    cross join dim_settings as settings
    left join clean_lots
        on clean_lots.domain_id = lot_facts.domain_id
        and clean_lots.manufacturer_id = lot_facts.manufacturer_id
        and clean_lots.model_id = lot_facts.model_id
        and clean_lots.year = lot_facts.year
        and clean_lots.currency = lot_facts.currency
),
bands as (
    select
        price_kind,
        claims_band,
        accident,
        accident_evidence,
        currency,
        count(*) as lots,
        count(price) as priced_lots,
        -- an amount without a known currency counts as a lot, but enters no statistic
        percentile_cont(0.5) within group (order by case when currency is not null then price end) as price_median,
        count(price_ratio) as compared_lots,
        percentile_cont(0.5) within group (order by price_ratio) as price_ratio_median
    from compared
    group by price_kind, claims_band, accident, accident_evidence, currency
),
final as (
    select
        bands.price_kind,
        bands.claims_band,
        bands.accident,
        bands.accident_evidence,
        bands.lots,
        bands.priced_lots,
        bands.currency,
        case when bands.priced_lots >= settings.minimum_group then round(bands.price_median * 100) / 100 end as price_median,
        bands.compared_lots,
        case when bands.compared_lots >= settings.minimum_group then bands.price_ratio_median end as price_ratio_median
    from bands
    cross join dim_settings as settings
)
select * from final
