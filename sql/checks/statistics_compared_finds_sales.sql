-- description: One of four statistics of a source with known sales has a matching sale in statistics_compared.
-- severity: warn
with sold as (
    select distinct domain_id
    from sales
    where price is not null
),
final as (
    select
        statistics_compared.domain_id,
        count(*) as records,
        count(case when statistics_compared.lots > 0 then 1 end) as compared
    from statistics_compared
    inner join sold on sold.domain_id = statistics_compared.domain_id
    group by statistics_compared.domain_id
)
select * from final
where compared < 0.25 * records
