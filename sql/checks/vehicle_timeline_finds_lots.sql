-- description: Three of four reports of a source have a lot of their vehicle in vehicle_timeline. If not, listing ids are probably no lot numbers.
-- severity: warn
with final as (
    select domain_id, count(*) as reports, count(lot_id) as matched
    from vehicle_timeline
    where evidence_table in ('inspections', 'history_reports')
    group by domain_id
)
select * from final where matched < 0.75 * reports
