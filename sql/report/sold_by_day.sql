-- The share of the lots that is sold by each day after the listing, by source: a line that counts a lot that left unsold as
-- never sold, and one that counts it as sold elsewhere. Both begin with none on the day of the listing.
with lines as (
    select domain_id, domain_name, 1 as line, 'sold' as counted, day, lots, sold as value, sold_low as interval_low,
        sold_high as interval_high
    from sold_by_day
    where level = 'source'
    union all
    select domain_id, domain_name, 2, 'sold, or left the feed unsold', day, lots, sold_at_most, sold_at_most_low,
        sold_at_most_high
    from sold_by_day
    where level = 'source'
    union all
    select domain_id, domain_name, line, counted, 0, lots, 0, null, null
    from sold_by_day
    cross join (values (1, 'sold'), (2, 'sold, or left the feed unsold')) as lines(line, counted)
    where level = 'source' and day = 7 and sold is not null
)
-- the lines have marks of their own, not that of their source
select * exclude (domain_id), date '1970-01-01' + day as moment, null::bigint as domain_id
from lines
order by lines.domain_id, line, day
