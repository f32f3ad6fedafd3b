"""Reads metrics with the parsers of Prometheus' client, and builds OpenLineage's own classes, made from its schema, of events.

A member that a class does not know, or that it needs and does not get, is a TypeError. Prints what was read as JSON.
"""

import attr
import importlib
import json
import pkgutil
import sys

import openlineage.client.generated as generated
from openlineage.client.generated import base
from openlineage.client.serde import Serde
from prometheus_client.openmetrics.parser import text_string_to_metric_families as as_openmetrics
from prometheus_client.parser import text_string_to_metric_families as as_text

modules = [importlib.import_module(f"{generated.__name__}.{name}") for _, name, _ in pkgutil.iter_modules(generated.__path__)]
classes = {name: value for module in modules for name, value in vars(module).items() if attr.has(value)}
PARTS = {"fields": "SchemaDatasetFacetFields", "assertions": "Assertion"}


def facets(given):
    return {name: facet(value) for name, value in (given or {}).items()}


def facet(given):
    members = {name: value for name, value in given.items() if not name.startswith("_")}
    for name, part in PARTS.items():
        if name in members:
            members[name] = [classes[part](**each) for each in members[name]]
    made = classes[given["_schemaURL"].split("/")[-1]](**members)
    base.BaseFacet(producer=given["_producer"])
    assert made._get_schema().split("/")[-1] == given["_schemaURL"].split("/")[-1]
    return made


def dataset(kind, extra, given):
    known = {"namespace", "name", "facets", extra}
    assert set(given) <= known, set(given) - known
    parts = {"facets": facets(given.get("facets")), extra: facets(given.get(extra))}
    return kind(namespace=given["namespace"], name=given["name"], **parts)


def event(given):
    inputs = [dataset(base.InputDataset, "inputFacets", each) for each in given.pop("inputs")]
    outputs = [dataset(base.OutputDataset, "outputFacets", each) for each in given.pop("outputs")]
    run, job = given.pop("run"), given.pop("job")
    assert given.pop("schemaURL") == base.RunEvent._get_schema()
    given["eventType"] = base.EventType(given["eventType"])
    made = base.RunEvent(
        run=base.Run(runId=run["runId"], facets=facets(run["facets"])), job=base.Job(**job), inputs=inputs, outputs=outputs, **given
    )
    return Serde.to_dict(made)


text = open(sys.argv[1]).read()
read = [sorted((s.name, sorted(s.labels.items()), s.value) for f in parse(text) for s in f.samples) for parse in (as_text, as_openmetrics)]
assert read[0] == read[1]
events = [event(json.loads(line)) for line in open(sys.argv[2])]
print(json.dumps({"samples": len(read[0]), "events": events}))
