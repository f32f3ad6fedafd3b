"""Reads tables with ClickHouse, as the package chdb embeds it."""

import os

import chdb
from describe import ENDPOINT, describe, tell, wanted

# It reads local files below its own folder alone.
os.chdir("/")


def relation(location):
    if ENDPOINT is None:
        return f"icebergLocal('{location.removeprefix('file://')}', 'Parquet')"
    url = location.replace("s3://", f"{ENDPOINT}/")
    return f"icebergS3('{url}/', '{os.environ['AWS_ACCESS_KEY_ID']}', '{os.environ['AWS_SECRET_ACCESS_KEY']}')"


for each in wanted():
    settings = "session_timezone = 'UTC'"
    if "snapshot" in each:
        settings += f", iceberg_snapshot_id = {int(each['snapshot'])}"
    if "time" in each:
        settings += f", iceberg_timestamp_ms = {each['time']}"
    query = f"select * from {relation(each['location'])} where {each.get('filter', 'true')} settings {settings}"
    tell(each, **describe(chdb.query(query, "ArrowTable")))
