select 'archived_lots' as table_name, column_name, dates
from (
    select
        count(archived_at) - count(plausible_date(archived_at, last_day)) as archived_at,
        count(sale_date) - count(plausible_date(sale_date, last_day)) as sale_date,
        count(bid_updated_at) - count(plausible_date(bid_updated_at, last_day)) as bid_updated_at,
        count(buy_now_updated_at) - count(plausible_date(buy_now_updated_at, last_day)) as buy_now_updated_at,
        count(final_bid_updated_at) - count(plausible_date(final_bid_updated_at, last_day)) as final_bid_updated_at,
        count(sale_date_updated_at) - count(plausible_date(sale_date_updated_at, last_day)) as sale_date_updated_at
    from archived_lots
    cross join dim_settings
) as counts
unpivot (dates for column_name in (
    archived_at, sale_date, bid_updated_at, buy_now_updated_at,
    final_bid_updated_at, sale_date_updated_at
))
union all
select 'event_details' as table_name, column_name, dates
from (
    select
        count(value_date) - count(plausible_event_date(value_date, last_day)) as value_date
    from event_details
    cross join dim_settings
) as counts
unpivot (dates for column_name in (value_date))
union all
select 'events' as table_name, column_name, dates
from (
    select
        count(occurred_at) - count(plausible_event_date(occurred_at, last_day)) as occurred_at,
        count(ended_at) - count(plausible_event_date(ended_at, last_day)) as ended_at
    from events
    cross join dim_settings
) as counts
unpivot (dates for column_name in (occurred_at, ended_at))
union all
select 'history_reports' as table_name, column_name, dates
from (
    select
        count(summary_first_registered_at) - count(plausible_event_date(summary_first_registered_at, last_day)) as summary_first_registered_at,
        count(coverage_period_start) - count(plausible_date(coverage_period_start, last_day)) as coverage_period_start,
        count(coverage_period_end) - count(plausible_date(coverage_period_end, last_day)) as coverage_period_end,
        count(source_imported_at) - count(plausible_date(source_imported_at, last_day)) as source_imported_at,
        count(checked_at) - count(plausible_date(checked_at, last_day)) as checked_at,
        count(created_at) - count(plausible_date(created_at, last_day)) as created_at,
        count(system_updated_at) - count(plausible_date(system_updated_at, last_day)) as system_updated_at
    from history_reports
    cross join dim_settings
) as counts
unpivot (dates for column_name in (
    summary_first_registered_at, coverage_period_start, coverage_period_end, source_imported_at,
    checked_at, created_at, system_updated_at
))
union all
select 'inspections' as table_name, column_name, dates
from (
    select
        count(source_imported_at) - count(plausible_date(source_imported_at, last_day)) as source_imported_at,
        count(inspected_at) - count(plausible_date(inspected_at, last_day)) as inspected_at,
        count(valid_until) - count(plausible_date(valid_until, last_day)) as valid_until,
        count(created_at) - count(plausible_date(created_at, last_day)) as created_at,
        count(updated_at) - count(plausible_date(updated_at, last_day)) as updated_at,
        count(system_updated_at) - count(plausible_date(system_updated_at, last_day)) as system_updated_at
    from inspections
    cross join dim_settings
) as counts
unpivot (dates for column_name in (source_imported_at, inspected_at, valid_until, created_at, updated_at, system_updated_at))
union all
select 'lots' as table_name, column_name, dates
from (
    select
        count(sale_date) - count(plausible_date(sale_date, last_day)) as sale_date,
        count(sale_date_updated_at) - count(plausible_date(sale_date_updated_at, last_day)) as sale_date_updated_at,
        count(bid_updated_at) - count(plausible_date(bid_updated_at, last_day)) as bid_updated_at,
        count(buy_now_updated_at) - count(plausible_date(buy_now_updated_at, last_day)) as buy_now_updated_at,
        count(final_bid_updated_at) - count(plausible_date(final_bid_updated_at, last_day)) as final_bid_updated_at,
        count(seller_reserve_updated_at) - count(plausible_date(seller_reserve_updated_at, last_day)) as seller_reserve_updated_at,
        count(created_at) - count(plausible_date(created_at, last_day)) as created_at,
        count(updated_at) - count(plausible_date(updated_at, last_day)) as updated_at,
        count(archived_at) - count(plausible_date(archived_at, last_day)) as archived_at
    from lots
    cross join dim_settings
) as counts
unpivot (dates for column_name in (
    sale_date, sale_date_updated_at, bid_updated_at, buy_now_updated_at, final_bid_updated_at,
    seller_reserve_updated_at, created_at, updated_at, archived_at
))
union all
select 'prices' as table_name, column_name, dates
from (
    select
        count(sale_date) - count(plausible_date(sale_date, last_day)) as sale_date,
        count(final_bid_updated_at) - count(plausible_date(final_bid_updated_at, last_day)) as final_bid_updated_at
    from prices
    cross join dim_settings
) as counts
unpivot (dates for column_name in (sale_date, final_bid_updated_at))
union all
select 'statistics' as table_name, column_name, dates
from (
    select
        count(calculated_at) - count(plausible_date(calculated_at, last_day)) as calculated_at
    from statistics
    cross join dim_settings
) as counts
unpivot (dates for column_name in (calculated_at))
