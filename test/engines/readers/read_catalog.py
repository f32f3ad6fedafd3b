"""Reads tables of a REST catalog with pyiceberg: the locations are `<uri>#<namespace>.<table>`."""

import os

from describe import ENDPOINT, describe, tell, wanted
from pyiceberg.catalog import load_catalog

for each in wanted():
    uri, _, identifier = each["location"].partition("#")
    storage = {"s3.endpoint": ENDPOINT, "s3.region": os.environ["AWS_REGION"]}
    table = load_catalog("rest", type="rest", uri=uri, **storage).load_table(identifier)
    tell(each, **describe(table.scan().to_arrow()), snapshots=[each.snapshot_id for each in table.snapshots()])
