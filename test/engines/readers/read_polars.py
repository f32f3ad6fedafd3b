"""Reads tables with polars' own Iceberg reader."""

import os

import polars
from describe import ENDPOINT, describe, tell, wanted
from pyiceberg.table import StaticTable

STORAGE = {} if ENDPOINT is None else {"s3.endpoint": ENDPOINT, "s3.region": os.environ["AWS_REGION"], "s3.force-virtual-addressing": "false"}
OPTIONS = {} if ENDPOINT is None else {"endpoint_url": ENDPOINT, "aws_region": os.environ["AWS_REGION"], "allow_http": "true"}

for each in wanted():
    table = StaticTable.from_metadata(each["location"], STORAGE)
    snapshot = int(each["snapshot"]) if "snapshot" in each else None
    rows = polars.scan_iceberg(table, snapshot_id=snapshot, storage_options=OPTIONS, reader_override="native")
    if "filter" in each:
        rows = rows.filter(polars.sql_expr(each["filter"]))
    tell(each, **describe(rows.collect().to_arrow()))
