-- The two most frequent of each kind that can be compared, as the page Compare names them: of the lots that go to auction, and the
-- sellers and branches that offered most, each at its source.
with lots as (from explore.lots_on_offer where market = 'auction'),
offered as (
    select 'model' as kind, manufacturer_name || ' | ' || model_name as name, count(*) as lots from lots group by all
    union all
    select 'make', manufacturer_name, count(*) from lots group by all
    union all
    select 'place', state_code, count(*) from lots group by all
    union all
    select 'damage', damage_main_group, count(*) from lots group by all
    union all
    select 'title', title_brand, count(*) from lots group by all
    union all
    select level, party_name || ' | ' || domain_name, sum(offered) from offer_profiles where level in ('branch', 'seller') group by all
)
select kind, name
from offered
where name <> 'unknown'
qualify row_number() over (partition by kind order by lots desc, name) <= 2
order by kind, lots desc, name
