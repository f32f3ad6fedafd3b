with sold as (
    select lot_id, amount, doubt from rounds where trust_reason = 'trusted'
),
expected as (
    -- of a make that has no other price, nothing is expected, nor in a currency that is not known
    select lot_id, price_inputs.market, price, log_estimate, is_left_out = 1 as is_left_out
    from price_inputs
    inner join fit.estimates as estimates on estimates.lot = price_inputs.lot_id
    where is_currency_known and make_weight > 0
),
judged as (
    select lot_id, amount, doubt, log_estimate, is_left_out
    from sold
    left join expected using (lot_id)
    union all
    select lot_id, price, null, log_estimate, is_left_out
    from expected
    where market = 'asking' and price is not null
),
reasons as (
    select
        lot_id,
        abs(ln(amount) - log_estimate) > ln(10) as is_far,
        case
            when doubt = 'one_dollar' then doubt
            -- a first bid of 80 says nothing against 8,000 if that is what such a car brings
            when doubt is not null and coalesce(is_far, true) then doubt
            when is_far then 'ten_times_estimate'
            when is_left_out then 'left_out_by_fit'
        end as reason
    from judged
)
select lot_id, reason from reasons where reason is not null
