with source_sightings as (
    select lot_id, seen_at from sightings where lot_id is not null
),
lake_lots as (
    -- source 12 lists cars at asking prices and holds no auctions
    select
        lots.lot_id,
        lots.vehicle_id,
        lots.domain_id,
        lots.status_id,
        lots.sale_date,
        lots.final_bid,
        lots.final_bid_updated_at,
        lots.buy_now,
        lot_groups.currency,
        case when source_sightings.seen_at > clock.as_of then clock.as_of else source_sightings.seen_at end as observed_at
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    cross join dim_settings as clock
    left join source_sightings on source_sightings.lot_id = lots.lot_id
    where lots.domain_id <> 12
),
source_prices as (
    -- an entry that left the price history before its date was an announcement, not an auction
    select price_id, lot_id, status_id, sale_date, bid, buy_now_price, final_bid_updated_at, gone_at
    from prices
    where sale_date is not null and (gone_at is null or gone_at > sale_date)
),
source_archivings as (
    select
        lot_id,
        vehicle_id,
        -- where the source of no archived lot is known, the folders of the table give the column no type
        cast(domain_id as bigint) as domain_id,
        upper(trim(vin)) as vin,
        archived_at,
        status_id,
        sale_date,
        final_bid,
        final_bid_updated_at,
        buy_now,
        row_number() over (partition by lot_id order by archived_at desc nulls last) as recency
    from archived_lots
),
archive_only_lots as (
    -- Lots that only the archive feed told of. An auction that it dates after their end was not held.
    select
        source_archivings.lot_id,
        source_archivings.vehicle_id,
        source_archivings.domain_id,
        left(source_archivings.vin, 8) || substring(source_archivings.vin, 10, 1) as vin_head,
        currencies.currency
    from source_archivings
    left join lots on lots.lot_id = source_archivings.lot_id
    left join currencies
        on currencies.domain_id = source_archivings.domain_id and currencies.country_iso = 'unknown'
    where source_archivings.recency = 1
        and source_archivings.domain_id <> 12
        and source_archivings.archived_at >= source_archivings.sale_date
        and lots.lot_id is null
),
source_lots as (
    select
        lot_id,
        vehicle_id,
        domain_id,
        status_id,
        sale_date,
        final_bid,
        final_bid_updated_at,
        buy_now,
        currency,
        observed_at,
        cast(null as string) as vin_head,
        0 as is_archive_only
    from lake_lots
    union all
    select lot_id, vehicle_id, domain_id, null, null, null, null, null, currency, null, vin_head, 1 from archive_only_lots
),
source_vehicles as (
    select vehicle_id, manufacturer_id, model_id, generation_id, year from vehicles
),
confirmed_sales as (
    -- The archive feed takes a lot in after its auction. If it then calls the lot sold, the lot is sold for that amount.
    select lot_id, cast(sale_date as date) as sale_day, final_bid
    from source_archivings
    where recency = 1 and status_id = 6 and archived_at >= sale_date
),
archive_results as (
    -- the archive feed has the result if it archived the lot after the lot itself was last seen
    select
        source_lots.lot_id,
        source_archivings.status_id,
        source_archivings.sale_date,
        source_archivings.final_bid,
        source_archivings.final_bid_updated_at,
        source_archivings.buy_now,
        source_archivings.archived_at as observed_at
    from source_lots
    inner join source_archivings on source_archivings.lot_id = source_lots.lot_id and source_archivings.recency = 1
    where source_lots.observed_at is null or source_archivings.archived_at > source_lots.observed_at
),
lot_results as (
    select
        source_lots.lot_id,
        source_lots.status_id,
        source_lots.sale_date,
        source_lots.final_bid,
        source_lots.final_bid_updated_at,
        source_lots.buy_now,
        source_lots.observed_at
    from source_lots
    left join archive_results on archive_results.lot_id = source_lots.lot_id
    where archive_results.lot_id is null
),
entries as (
    -- one entry a lot, date and origin; precedence: 1 price history, 2 the lot itself, 3 archive feed
    select
        source_prices.lot_id,
        1 as precedence,
        source_prices.price_id,
        source_prices.status_id,
        source_prices.sale_date,
        source_prices.bid as amount,
        coalesce(source_prices.buy_now_price, source_lots.buy_now) as buy_now,
        source_prices.final_bid_updated_at as recorded_at,
        case when source_prices.gone_at is null then source_lots.observed_at end as observed_at
    from source_prices
    inner join source_lots on source_lots.lot_id = source_prices.lot_id
    union all
    select lot_id, 2, cast(null as string), status_id, sale_date, final_bid, buy_now, final_bid_updated_at, observed_at
    from lot_results
    where sale_date is not null
    union all
    select lot_id, 3, cast(null as string), status_id, sale_date, final_bid, buy_now, final_bid_updated_at, observed_at
    from archive_results
    where sale_date is not null
),
dated_entries as (
    -- proof: 2 the lot was bought at its Buy Now price, 1 the archive feed confirms the sale; both settle the result.
    -- is_seen: the auction is 12 hours past, and either the lot was seen then or the result was recorded after the start.
    select
        entries.lot_id,
        entries.precedence,
        entries.price_id,
        entries.status_id,
        entries.sale_date,
        cast(entries.sale_date as date) as sale_day,
        nullif(entries.amount, 0) as amount,
        case
            when entries.status_id is null or entries.status_id <> 6 then 0
            when entries.amount > 0 and entries.amount = entries.buy_now then 2
            when confirmed_sales.lot_id is not null then 1
            else 0
        end as proof,
        case
            when clock.as_of < entries.sale_date + interval '12' hour then 0
            when entries.observed_at >= entries.sale_date + interval '12' hour then 1
            when entries.recorded_at >= entries.sale_date then 1
            else 0
        end as is_seen
    from entries
    cross join dim_settings as clock
    left join confirmed_sales
        on confirmed_sales.lot_id = entries.lot_id
        and confirmed_sales.sale_day = cast(entries.sale_date as date)
        and confirmed_sales.final_bid = entries.amount
    -- an earlier date is a placeholder of the feed
    where entries.sale_date >= clock.first_sale_day
),
judged_entries as (
    select
        *,
        case when proof > 0 then 1 else is_seen end as is_settled
    from dated_entries
),
ordered_entries as (
    -- order the entries of a lot by day; on one day, the settled entry comes last, and the price history after the lot
    select
        *,
        lag(sale_day) over lot_entries as day_before,
        lead(sale_day) over lot_entries as day_after,
        lag(case when status_id = 6 and is_settled = 1 then amount end) over lot_entries as amount_before,
        lag(proof) over lot_entries as proof_before
    from judged_entries
    window lot_entries as (
        partition by lot_id
        order by
            sale_day nulls last,
            is_settled nulls last,
            precedence desc nulls last,
            sale_date nulls last,
            try_cast(price_id as bigint) nulls first,
            price_id nulls first
    )
),
final_entries as (
    -- Dates at most 3 days apart (over a weekend) are one auction that was moved. Its last entry decides.
    select
        *,
        case when day_after is null then 0 else 1 end as is_relisted,
        case when amount is null and status_id = 6 and day_before = sale_day and amount_before is not null then 1 else 0 end
            as takes_amount_before
    from ordered_entries
    where day_after is null or day_after > sale_day + interval '3' day
),
attempts as (
    -- amounts below 1 and above 5,000,000 are no prices, whatever the currency
    select
        lot_id,
        precedence,
        price_id,
        status_id,
        sale_date,
        sale_day,
        is_settled,
        is_relisted,
        case when takes_amount_before = 1 then amount_before else amount end as best_amount,
        case when takes_amount_before = 1 and proof_before > proof then proof_before else proof end as proof,
        cast(row_number() over lot_attempts as bigint) as attempt,
        lag(sale_day) over lot_attempts as previous_day,
        lag(
            case
                when is_settled = 1 and takes_amount_before = 1 and amount_before between 1 and 5000000 then amount_before
                when is_settled = 1 and takes_amount_before = 0 and amount between 1 and 5000000 then amount
            end
        ) over lot_attempts as previous_amount
    from final_entries
    window lot_attempts as (partition by lot_id order by sale_day nulls last)
),
judged_attempts as (
    select
        attempts.*,
        case
            when attempts.is_settled = 1 and attempts.best_amount between 1 and 5000000 then attempts.best_amount
        end as settled_amount,
        case
            when attempts.proof > 0 and attempts.is_relisted = 1 then 'relisted'
            when attempts.proof = 0 and attempts.sale_date > clock.as_of then 'upcoming'
            when attempts.proof = 0 and clock.as_of < attempts.sale_date + interval '12' hour then 'too_recent'
            when attempts.is_settled = 0 then 'not_seen_after_sale'
            when attempts.status_id in (4, 6) and attempts.is_relisted = 1 then 'relisted'
            when attempts.status_id in (7, 8) then 'not_sold'
            when attempts.status_id = 4 then 'on_approval'
            when attempts.status_id is null or attempts.status_id <> 6 then 'no_result'
            when attempts.best_amount is null then 'no_price'
            when attempts.best_amount < 1 or attempts.best_amount > 5000000 then 'out_of_bounds'
            else 'trusted'
        end as trust_reason
    from attempts
    cross join dim_settings as clock
),
attempts_by_vehicle as (
    -- attempts of a vehicle over all its lots and sources; a lot without a vehicle is a vehicle of its own
    select
        judged_attempts.*,
        source_lots.vehicle_id,
        case when source_lots.vehicle_id is null then judged_attempts.lot_id end as lone_lot_id,
        lead(judged_attempts.sale_day) over vehicle_attempts as offered_day_after,
        cast(row_number() over vehicle_attempts as bigint) as vehicle_place
    from judged_attempts
    inner join source_lots on source_lots.lot_id = judged_attempts.lot_id
    window vehicle_attempts as (
        partition by source_lots.vehicle_id, case when source_lots.vehicle_id is null then judged_attempts.lot_id end
        order by
            judged_attempts.sale_date nulls last,
            judged_attempts.lot_id nulls last,
            judged_attempts.attempt nulls last
    )
),
checked_attempts as (
    -- A later attempt of the same lot has already undone the sale, so the next offer is of another lot.
    select
        attempts_by_vehicle.*,
        case
            when attempts_by_vehicle.trust_reason not in ('trusted', 'no_price', 'out_of_bounds')
            then attempts_by_vehicle.trust_reason
            when cast(attempts_by_vehicle.offered_day_after - attempts_by_vehicle.sale_day as bigint) <= clock.relisting_days
            then 'offered_again'
            else attempts_by_vehicle.trust_reason
        end as final_reason
    from attempts_by_vehicle
    cross join dim_settings as clock
),
outcomes as (
    select
        *,
        case
            when final_reason in ('trusted', 'no_price', 'out_of_bounds') then 'sold'
            when final_reason in ('not_sold', 'relisted', 'offered_again') then 'not_sold'
            when final_reason in ('on_approval', 'upcoming') then final_reason
            else 'unresolved'
        end as outcome
    from checked_attempts
),
rounds as (
    -- after a sale that held, a new round begins
    select
        *,
        1 + coalesce(sum(case when outcome = 'sold' then 1 else 0 end) over earlier, 0) as vehicle_round,
        vehicle_place - coalesce(max(case when outcome = 'sold' then vehicle_place end) over earlier, 0) as vehicle_attempt
    from outcomes
    window earlier as (
        partition by vehicle_id, lone_lot_id
        order by vehicle_place nulls last
        rows between unbounded preceding and 1 preceding
    )
),
lot_vehicles as (
    -- of a car that the lake lacks, the VIN tells what it has in common with others
    select
        source_lots.lot_id,
        source_lots.vehicle_id,
        source_lots.domain_id,
        coalesce(source_vehicles.manufacturer_id, vin_heads.manufacturer_id) as manufacturer_id,
        coalesce(source_vehicles.model_id, vin_heads.model_id) as model_id,
        coalesce(source_vehicles.generation_id, vin_heads.generation_id) as generation_id,
        coalesce(source_vehicles.year, vin_heads.year) as year,
        source_lots.is_archive_only,
        source_lots.currency
    from source_lots
    left join source_vehicles on source_vehicles.vehicle_id = source_lots.vehicle_id
    left join dim_vin_heads as vin_heads
        on vin_heads.vin_head = case when source_vehicles.vehicle_id is null then source_lots.vin_head end
),
lot_details as (
    select
        lot_vehicles.*,
        source_names.domain_name,
        manufacturer_names.manufacturer_name,
        model_names.model_name
    from lot_vehicles
    left join dim_sources as source_names on source_names.domain_id = lot_vehicles.domain_id
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = lot_vehicles.manufacturer_id
    left join dim_models as model_names on model_names.model_id = lot_vehicles.model_id
),
final as (
    select
        rounds.lot_id,
        rounds.attempt,
        lot_details.vehicle_id,
        cast(rounds.vehicle_round as bigint) as vehicle_round,
        rounds.vehicle_attempt,
        lot_details.domain_id,
        lot_details.domain_name,
        lot_details.manufacturer_id,
        lot_details.manufacturer_name,
        lot_details.model_id,
        lot_details.model_name,
        lot_details.generation_id,
        lot_details.year,
        rounds.price_id,
        case
            when lot_details.is_archive_only = 1 then 'archive_only'
            when rounds.precedence = 1 then 'history'
            when rounds.precedence = 2 then 'lot'
            else 'archive'
        end as evidence,
        rounds.status_id,
        rounds.sale_date,
        cast(date_trunc('month', rounds.sale_day) as date) as sale_month,
        rounds.outcome,
        observed_spans.span is not null as is_observed,
        lot_details.currency,
        rounds.best_amount as amount,
        case when rounds.final_reason = 'trusted' then rounds.best_amount end as price,
        rounds.final_reason = 'trusted' as is_trusted,
        rounds.final_reason as trust_reason,
        case
            when rounds.final_reason = 'trusted'
            then case rounds.proof when 2 then 'buy_now' when 1 then 'archive_feed' else '12_hours' end
        end as trust_basis,
        cast(rounds.sale_day - rounds.previous_day as bigint) as days_since_previous,
        case when rounds.final_reason <> 'upcoming' then rounds.settled_amount - rounds.previous_amount end
            as amount_change,
        case when rounds.final_reason <> 'upcoming' then rounds.settled_amount / rounds.previous_amount - 1 end
            as amount_change_share
    from rounds
    inner join lot_details on lot_details.lot_id = rounds.lot_id
    left join observed_spans
        on observed_spans.domain_id = lot_details.domain_id
        and rounds.sale_date >= observed_spans.observed_from
        and rounds.sale_date < observed_spans.observed_to
)
select * from final
