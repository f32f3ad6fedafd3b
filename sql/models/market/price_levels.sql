with intervals as (
    select *, margin_95(sqrt(variance)) as half from level_effects
)
select
    market,
    currency,
    subject,
    value,
    case when level = 'make' then 'manufacturer' else level end as level,
    domain_id,
    domain_name,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    generation_id,
    generation_name,
    place,
    prices,
    case when enough(prices) then exp(log_effect) end as own_effect,
    own_weight,
    sqrt(spread) as level_deviation,
    not enough(prices) as is_pooled,
    exp(log_pooled) as effect,
    exp(log_pooled - half) as effect_low,
    exp(log_pooled + half) as effect_high
from intervals
inner join level_groups using (place)
