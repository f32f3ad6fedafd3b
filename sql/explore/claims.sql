-- What the history reports of a vehicle list, in the order of time; what several reports repeat is one row.
select
    coalesce(occurred_local, cast(occurred_from as varchar), 'undated') as occurred,
    type_key, subtype_key, status_key, mileage_km, currency, amount_total, count(distinct (listing_id, report_id)) as reports
from claim_history
where vehicle_id = $vehicle_id
group by all
order by min(occurred_from) nulls last, min(event_number)
