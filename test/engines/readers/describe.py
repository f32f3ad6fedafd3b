"""What the programs beside this one share: the tables to read come as a file of JSON, and each table becomes a
line of JSON with its number of rows and, for each column, the number of nulls and figures of all other values.

The figures of a column are, by its type:
  integers and booleans   the exact sum, as text
  doubles                 the sum
  texts and dates         the smallest and the largest
  instants                the smallest and the largest, in microseconds since 1970, as text
  lists                   the number of elements of all lists, as text
"""

import json
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

ENDPOINT = os.environ.get("LOTLAKE_TEST_ENDPOINT")


def whole(value):
    return None if value is None else str(value)


def figures(column):
    kind = column.type
    if pa.types.is_boolean(kind):
        return [whole(pc.sum(column.cast(pa.int64())).as_py())]
    if pa.types.is_integer(kind):
        return [whole(pc.sum(column).as_py())]
    if pa.types.is_floating(kind):
        return [pc.sum(column).as_py()]
    if pa.types.is_timestamp(kind):
        micros = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
        return [whole(end.as_py()) for end in pc.min_max(micros).values()]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [whole(pc.sum(pc.list_value_length(column)).as_py())]
    if pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    return [whole(end.as_py()) for end in pc.min_max(column).values()]


def describe(table):
    columns = {name: {"nulls": table[name].null_count, "figures": figures(table[name])} for name in table.column_names}
    return {"rows": table.num_rows, "columns": columns}


def wanted():
    """The tables to read: name, location, and perhaps a snapshot id, a time in milliseconds, or a filter."""
    return json.loads(Path(sys.argv[1]).read_text())


def tell(table, **facts):
    print(json.dumps({"name": table["name"], **facts}), flush=True)
