-- The snapshots that runs published.
select snapshot_id from runs where snapshot_id is not null
