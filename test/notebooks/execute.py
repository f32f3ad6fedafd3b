"""Executes notebooks and fails on an error, and on a chart without data.

usage: execute.py <whole|part> <folder for executed copies> <notebook>...
The lake is found through LOTLAKE_OUTPUT. Over a whole lake each notebook draws and knows everything. A part of one may
lack what a notebook asks for; it then draws less, or shares of nothing, and says what is not known yet.
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
    texts = [data.get("text/markdown", "") for data in _shown(notebook)]
    return json.loads(marks.outputs[0].text), any("Not known yet" in text for text in texts)


def _shown(notebook):
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.data for output in outputs if "data" in output]


def _problem(charts, lacks, extent):
    """Why an executed notebook is not as it should be; None if it is."""
    # In a small lake a share of nothing is an answer.
    if extent == "whole" and not (charts and all(axes and all(axes) for axes in charts)):
        return f"no chart, or one without data; marks by chart: {charts}"
    if extent == "whole" and lacks:
        return "it says that something is not known, over a whole lake"
    if not charts and not lacks:
        return "no chart, and no word that something is not known"
    return None


def main(extent, copies, paths):
    failed = False
    for path in paths:
        began = time.monotonic()
        try:
            charts, lacks = execute(path, copies)
            problem = _problem(charts, lacks, extent)
        except CellExecutionError as error:
            charts, lacks, problem = [], False, str(error)
        failed = failed or problem is not None
        told = problem or f"{len(charts)} charts{', something is not known yet' if lacks else ''}, {time.monotonic() - began:.1f} s"
        print(f"{'failed' if problem else 'ok'} {os.path.basename(path)}: {told}", flush=True)
    return 1 if failed else 0


sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
