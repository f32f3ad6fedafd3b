-- description: The attempts of each source platform in sell_through_odds are the observed attempts of sales, of lots in the lake.
-- severity: error
with expected as (
    select domain_id, count(*) as attempts
    from sales
    where is_observed and outcome in ('sold', 'not_sold', 'on_approval') and evidence <> 'archive_only'
    group by domain_id
)
select
    sell_through_odds.lot_id,
    sell_through_odds.source_attempts,
    coalesce(expected.attempts, 0) as expected_attempts
from sell_through_odds
left join expected on expected.domain_id = sell_through_odds.domain_id
where sell_through_odds.source_attempts <> coalesce(expected.attempts, 0)
