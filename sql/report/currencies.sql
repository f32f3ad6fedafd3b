-- Lots by the currency of their prices.
select currency, sum(lots) as lots from currencies group by currency order by lots desc, currency
