with attempts as (
    select
        lot_id,
        max(attempt) as last_attempt,
        max_by(trust_reason, attempt) as trust_reason,
        min(attempt) filter (where outcome = 'upcoming') as upcoming_attempt,
        min(sale_date) filter (where outcome = 'upcoming') as sale_date
    from sales
    group by all
),
judged as (
    -- a lot that was sold is not offered again, even if its vehicle is offered as another lot
    select
        lots.lot_id,
        lots.vehicle_id,
        lots.domain_id,
        coalesce(plausible_price(lots.seller_reserve_price) is not null, false) as has_reserve,
        last_attempt,
        upcoming_attempt,
        attempts.sale_date,
        trust_reason,
        not coalesce(lots.archived, false)
            and coalesce(trust_reason, 'none') not in ('trusted', 'no_price', 'out_of_bounds', 'offered_again') as is_open
    from lots
    left join attempts on attempts.lot_id = lots.lot_id
    where is_auction(lots.domain_id)
)
select
    judged.lot_id,
    judged.vehicle_id,
    judged.domain_id,
    lot_cars.manufacturer_id,
    lot_groups.seller_group,
    lot_groups.title_brand,
    judged.has_reserve,
    case when is_open then coalesce(upcoming_attempt, last_attempt + 1, 1) end as next_attempt,
    case when is_open then judged.sale_date end as sale_date,
    coalesce(
        is_open and upcoming_attempt is null and trust_reason in ('on_approval', 'too_recent', 'not_seen_after_sale'), false
    ) as awaits_result
from judged
inner join lot_groups on lot_groups.lot_id = judged.lot_id
left join lot_cars on lot_cars.lot_id = judged.lot_id
