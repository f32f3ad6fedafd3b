-- description: One of four roots of duplicates is a known lot. If not, the ids are probably no lot numbers.
-- severity: warn
with final as (
    select
        count(*) as pairs,
        count(root_lot_id) as roots
    from duplicate_lots
    where not is_cycle
)
select * from final
where roots < 0.25 * pairs
