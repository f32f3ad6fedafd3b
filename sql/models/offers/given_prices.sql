-- The last estimate of each lot before its price, of the last six months.
with given as (
    select
        given_estimates.*,
        priced_at,
        price,
        sold_by,
        row_number() over (partition by lot_id, market, currency order by given_at desc nulls last) as place
    from given_estimates
    cross join dim_settings
    inner join price_inputs using (lot_id, market, currency)
    where given_at <= priced_at and given_at > as_of - interval '183' day
)
select lot_id, market, currency, given_at, estimate, low_80, low_50, high_50, high_80, widened, price
from given
-- lots on offer are estimated for the auction
where place = 1 and price is not null and sold_by = 'auction'
