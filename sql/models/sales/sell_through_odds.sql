with judged as (
    select
        auction_lots.*,
        source_attempts,
        like_attempts,
        like_sold,
        pooled_share,
        probability,
        logit,
        reach,
        case
            when awaits_result then 'awaits_result'
            when source_attempts = 0 then 'not_observed'
            when not enough(cast(source_attempts as bigint)) then 'too_few_attempts'
        end as reason
    from auction_lots
    inner join kind_odds
        on kind_odds.domain_id = auction_lots.domain_id
        and kind_odds.turn = case when auction_lots.next_attempt = 1 then 'first' else 'later' end
        and kind_odds.seller_group = auction_lots.seller_group
        and kind_odds.title_brand = auction_lots.title_brand
        and kind_odds.has_reserve = auction_lots.has_reserve
        and kind_odds.manufacturer = coalesce(cast(auction_lots.manufacturer_id as string), 'unknown')
    where next_attempt is not null
)
select
    lot_id,
    vehicle_id,
    domain_id,
    domain_name,
    manufacturer_id,
    manufacturer_name,
    next_attempt as attempt,
    sale_date,
    seller_group,
    title_brand,
    has_reserve,
    cast(source_attempts as bigint) as source_attempts,
    cast(like_attempts as bigint) as like_attempts,
    cast(like_sold as bigint) as like_sold,
    case when reason is null then round(probability * 10000) / 10000 end as sell_probability,
    case when reason is null then round(10000 / (1 + exp(reach - logit))) / 10000 end as sell_probability_low,
    case when reason is null then round(10000 / (1 + exp(-reach - logit))) / 10000 end as sell_probability_high,
    case when reason is null then round(pooled_share * 10000) / 10000 end as pooled_share,
    reason
from judged
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
