-- What claims and accidents take off, if an inspection says whether there was an accident. Where two rows differ by
-- currency alone, apart is that currency; where there are two kinds of prices, kind_apart is the kind.
with discounts as (
    select
        *,
        case claims_band when 0 then 'No claim' when 1 then '1 claim' when 2 then '2 claims' else '3 or more claims' end
            as claims,
        case accident when 'yes' then 'accident' else 'no accident' end as accident_text,
        case price_kind when 'asking' then 'asking price' else 'sale price' end as kind,
        price_ratio_median as middle,
        compared_lots as based_on,
        case
            when count(*) over (partition by price_kind, claims_band, accident) > 1
                then coalesce(currency, 'currency not known')
        end as apart
    from accident_discount
    where accident_evidence = 'inspection' and claims_band is not null
)
select *, case when min(kind) over () <> max(kind) over () then kind end as kind_apart
from discounts
order by price_kind, accident, claims_band, currency
