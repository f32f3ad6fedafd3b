"""Reads tables with the Iceberg extension of DuckDB."""

import os
from importlib import import_module
from pathlib import Path

import duckdb
from describe import ENDPOINT, describe, tell, wanted

connection = duckdb.connect()
connection.execute("set TimeZone = 'UTC'")
for name in ["httpfs", "avro", "iceberg"]:
    folder = Path(import_module(f"duckdb_extension_{name}").__file__).parent
    connection.load_extension(str(next(folder.glob(f"extensions/*/{name}.duckdb_extension"))))
if ENDPOINT is not None:
    connection.execute(
        "create secret (type s3, key_id $key, secret $secret, region $region, endpoint $endpoint, "
        "url_style 'path', use_ssl false)",
        {
            "key": os.environ["AWS_ACCESS_KEY_ID"],
            "secret": os.environ["AWS_SECRET_ACCESS_KEY"],
            "region": os.environ["AWS_REGION"],
            "endpoint": ENDPOINT.removeprefix("http://"),
        },
    )

for each in wanted():
    options = f", snapshot_from_id = {int(each['snapshot'])}" if "snapshot" in each else ""
    if "time" in each:
        options = f", snapshot_from_timestamp = make_timestamp_ms({each['time']})"
    query = f"from iceberg_scan('{each['location']}'{options}) where {each.get('filter', 'true')}"
    tell(each, **describe(connection.sql(query).arrow().read_all()))
