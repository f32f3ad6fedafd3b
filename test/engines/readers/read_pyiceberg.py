"""Reads tables with pyiceberg, and counts the files that it plans to read."""

from describe import ENDPOINT, describe, tell, wanted
from pyiceberg.table import StaticTable

STORAGE = {} if ENDPOINT is None else {"s3.endpoint": ENDPOINT, "s3.force-virtual-addressing": "false"}

for each in wanted():
    table = StaticTable.from_metadata(each["location"], STORAGE)
    snapshot = table.snapshot_by_id(int(each["snapshot"])) if "snapshot" in each else None
    if "time" in each:
        snapshot = table.snapshot_as_of_timestamp(each["time"])
    scan = table.scan(row_filter=each.get("filter", "true"), snapshot_id=snapshot and snapshot.snapshot_id)
    tell(each, **describe(scan.to_arrow()), files=len(list(scan.plan_files())))
