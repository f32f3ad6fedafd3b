"""Executes notebooks and fails on an error, on one without a chart, and on a chart without data.

usage: execute.py <folder for executed copies> <notebook>...
The lake is found through LOTLAKE_OUTPUT.
"""

import json
import os
import sys
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

# What each chart shows when the notebook shows it: bars with a length, lines with a point, areas. A line that marks a
# place along one axis alone is none.
COUNT_MARKS = """
import matplotlib.pyplot as _plt
import numpy as _np

_charts = []
_show = _plt.show


def _marks(axes):
    bars = sum(bool(bar.get_width() and bar.get_height()) for bar in axes.patches)
    lines = [line for line in axes.lines if line.get_transform() == axes.transData]
    points = sum(int(_np.isfinite(_np.asarray(line.get_ydata(), dtype=float)).sum()) for line in lines)
    areas = sum(len(area.get_paths()) for area in axes.collections)
    return int(bars + points + areas)


def _counted_show(*args, **kwargs):
    _charts.extend([_marks(axes) for axes in _plt.figure(number).axes] for number in _plt.get_fignums())
    _show(*args, **kwargs)


_plt.show = _counted_show
"""

TELL_MARKS = """
import json as _json

print(_json.dumps(_charts))
"""


def execute(path, copies):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(COUNT_MARKS))
    notebook.cells.append(nbformat.v4.new_code_cell(TELL_MARKS))
    folder = os.path.dirname(os.path.abspath(path))
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}})
    try:
        client.execute()
    finally:
        marks = notebook.cells.pop()
        notebook.cells.pop(0)
        nbformat.write(notebook, os.path.join(copies, os.path.basename(path)))
    return json.loads(marks.outputs[0].text)


def main(copies, paths):
    failed = False
    for path in paths:
        began = time.monotonic()
        try:
            charts = execute(path, copies)
            is_drawn = bool(charts) and all(axes and all(axes) for axes in charts)
            problem = None if is_drawn else f"no chart, or one without data; marks by chart: {charts}"
        except CellExecutionError as error:
            charts, problem = [], str(error)
        failed = failed or problem is not None
        told = problem or f"{len(charts)} charts, {time.monotonic() - began:.1f} s"
        print(f"{'failed' if problem else 'ok'} {os.path.basename(path)}: {told}", flush=True)
    return 1 if failed else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
