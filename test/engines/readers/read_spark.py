"""Reads tables with Spark, and says how many files its scan read and left out. Run it with spark-submit."""

from datetime import datetime, timezone

from describe import describe, tell, wanted
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
store = spark._jsparkSession.sharedState().statusStore()

MEASURES = {"read": "number of result data files", "left_out": "number of skipped data files"}


def scan_measures():
    """Figures of the scan of the last query."""
    last = store.executionsList().last()
    values = store.executionMetrics(last.executionId())
    names = {metric.name(): metric.accumulatorId() for metric in iterate(last.metrics())}
    return {key: int(values.get(names[name]).get().replace(",", "")) for key, name in MEASURES.items() if name in names}


def iterate(scala):
    items = scala.iterator()
    while items.hasNext():
        yield items.next()


for each in wanted():
    reader = spark.read.format("iceberg")
    if "snapshot" in each:
        reader = reader.option("versionAsOf", each["snapshot"])
    if "time" in each:
        reader = reader.option("timestampAsOf", str(datetime.fromtimestamp(each["time"] / 1000, timezone.utc)))
    rows = reader.load(each["location"]).where(each.get("filter", "true"))
    described = describe(rows.toArrow())
    tell(each, **described, **(scan_measures() if "filter" in each else {}))

spark.stop()
