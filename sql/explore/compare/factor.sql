-- What a place, damage or title does to the price, all else alike: a multiple of the price of the reference.
select 'Price against ' || replace(reference, '_', ' ') || ', ' || market || ', ' || currency || ' (95%)' as figure, 'ratio' as unit,
    effect as value, effect_low as low, effect_high as high, prices as based_on, null as currency
from price_factors
where factor = $factor and enough(prices) and (lower(level) = lower($name) or suffix(lower(level), ' ' || lower($name)))
order by prices desc
limit 3
