-- description: Each level of days_on_market has all watched lots of a source platform, its sold ones and those that left.
-- severity: error
with sums as (
    select level, domain_id, sum(lots) as lots, sum(sold) as sold, sum(left_lots) as left_lots
    from days_on_market
    group by level, domain_id
),
final as (
    select sums.level, sums.domain_id, sums.lots, sources.lots as source_lots
    from sums
    inner join sums as sources on sources.domain_id = sums.domain_id and sources.level = 'source'
    where sums.lots <> sources.lots or sums.sold <> sources.sold or sums.left_lots <> sources.left_lots
)
select * from final
