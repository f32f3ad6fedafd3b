with described as (
    select
        rounds.*,
        cars.manufacturer_id,
        cars.model_id,
        cars.generation_id,
        cars.year,
        case when rounds.evidence = 'archive_only' then currencies.currency else lot_groups.currency end as currency,
        observed_spans.span is not null as is_observed,
        case when rounds.trust_reason = 'trusted' then price_doubts.reason end as outlier_reason
    from rounds
    left join price_doubts on price_doubts.lot_id = rounds.lot_id
    left join lot_cars as cars on cars.lot_id = rounds.lot_id
    left join lot_groups on lot_groups.lot_id = rounds.lot_id
    -- the archive feed names no country
    left join currencies on currencies.domain_id = rounds.domain_id and currencies.country_iso = 'unknown'
    left join observed_spans
        on observed_spans.domain_id = rounds.domain_id
        and rounds.sale_date >= observed_spans.observed_from
        and rounds.sale_date < observed_spans.observed_to
)
select
    lot_id,
    attempt,
    vehicle_id,
    vehicle_round,
    vehicle_attempt,
    domain_id,
    domain_name,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    generation_id,
    year,
    price_id,
    evidence,
    status_id,
    sale_date,
    month_of(sale_day) as sale_month,
    outcome,
    is_observed,
    currency,
    amount,
    case when trust_reason = 'trusted' and outlier_reason is null then amount end as price,
    trust_reason = 'trusted' as is_trusted,
    trust_reason,
    outlier_reason is not null as is_outlier,
    outlier_reason,
    case
        when trust_reason = 'trusted' then case proof when 2 then 'buy_now' when 1 then 'archive_feed' else '12_hours' end
    end as trust_basis,
    days_since_previous,
    case when outlier_reason is null then amount - previous_amount end as amount_change,
    case when outlier_reason is null then amount / previous_amount - 1 end as amount_change_share
from described
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
