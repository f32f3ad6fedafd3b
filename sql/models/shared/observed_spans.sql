with source_vehicles as (
    -- A vehicle on several sources comes with all its lots, including lots of a source that the key lacks. So only vehicles
    -- on a single source show since when lotlake sees that source.
    select vehicle_id, min(domain_id) as domain_id, min(first_seen_at) as first_seen_at
    from lots
    where vehicle_id is not null and domain_id is not null
    group by vehicle_id
    having min(domain_id) = max(domain_id)
),
sources as (
    select domain_id, min(first_seen_at) as first_seen_at from source_vehicles group by domain_id
),
proving_passes as (
    -- passes that walked the source in full and were not refused the source
    select
        sources.domain_id,
        source_names.domain_name,
        passes.started_at,
        case when passes.kind = 'full' then passes.started_at end as full_at
    from sources
    inner join dim_sources as source_names on source_names.domain_id = sources.domain_id
    inner join passes on passes.started_at >= sources.first_seen_at
    where passes.stream = 'cars'
        and passes.state = 'sealed'
        and passes.kind in ('full', 'window')
        and case
            when passes.sources is null then passes.complete
            else array_contains(passes.sources, cast(sources.domain_id as string))
        end
        and not coalesce(array_contains(passes.hidden, cast(sources.domain_id as string)), false)
),
marked_passes as (
    -- The service reports changes and archivings of three days. In a longer break, lots may come and go unseen.
    select
        *,
        case
            when days_between(lag(started_at) over (partition by domain_id order by started_at nulls last), started_at) <= 3
            then 0
            else 1
        end as is_start
    from proving_passes
),
numbered_passes as (
    select
        *,
        sum(is_start) over (
            partition by domain_id
            order by started_at nulls last
            rows between unbounded preceding and current row
        ) as span_number
    from marked_passes
),
spans as (
    -- A window shows only changes, so a span begins with a full pass. In the 12 hours before the last pass only sales can
    -- be settled, so the span ends before them.
    select
        domain_id,
        domain_name,
        min(full_at) as observed_from,
        greatest(min(full_at), max(started_at) - interval '12' hour) as observed_to
    from numbered_passes
    group by domain_id, domain_name, span_number
    having min(full_at) is not null
)
select
    domain_id,
    domain_name,
    cast(row_number() over (partition by domain_id order by observed_from nulls last) as bigint) as span,
    observed_from,
    observed_to
from spans
