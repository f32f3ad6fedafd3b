-- Lots by the currency of their prices.
select currency, sum(lots) as lots from currencies where lots > 0 group by currency order by lots desc, currency
