-- The auctions of the next seven days, with what the page of an export shows and filters by, in types that a browser reads.
select
    cast(year as integer) as year, manufacturer_name, model_name, sale_date, market, stands_out, currency, bid, buy_now, estimate,
    low_80, low_50, high_50, high_80, weak, cast(comparable_prices as integer) as comparable_prices, cast(attempt as integer) as attempt,
    inspection, odometer_rollback, vin_reason, year_origin, damage_second_group, status_name, prices_above, sell_probability, city_name, state_code, cast(domain_id as integer) as domain_id,
    domain_name, lot, link, damage_main_group, damage_main_name, title_brand, title_name, cast(odometer_km as integer) as odometer_km
from explore.lots_on_offer
where sale_date between (select as_of from dim_settings) and (select as_of from dim_settings) + interval 7 day
