-- description: The listing of three of four reports of a source is the number of a lot of their vehicle. If not, listing ids are probably no lot numbers.
-- severity: warn
with reports as (
    select vehicle_id, domain_id, listing_id from inspections where vehicle_id is not null
    union all
    select vehicle_id, domain_id, listing_id from history_reports where vehicle_id is not null
),
numbers as (
    select vehicle_id, domain_id, lot from known_lots group by vehicle_id, domain_id, lot
),
final as (
    select reports.domain_id, count(*) as reports, count(numbers.lot) as matched
    from reports
    left join numbers
        on numbers.vehicle_id = reports.vehicle_id
        and numbers.domain_id = reports.domain_id
        and numbers.lot = reports.listing_id
    group by reports.domain_id
)
select * from final where matched < 0.75 * reports
