"""The published comparison repeated on a made-up corpus of its size."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.golden.answer import Answer, Json
from tests.golden.evaluations_shown import all_shown, evaluate, packed, run_files, told


def answers(folder: Path) -> Iterator[Answer]:
    """Yield what `evaluate replicate` does, and what it leaves to share."""
    evaluate(folder, "datasets", "make", "demo", "--units", "189", "--seed", "1")
    evaluate(folder, "datasets", "make", "few", "--units", "20")
    replicate = ("replicate", "demo", "--out", "replication")
    own = ("--model", "openai:own", "--price", "openai:own=1/2")
    ends = all_shown(
        folder,
        {
            "plan_json": (*replicate, "--plan", "--json", *own),
            "first": replicate,
            "again": replicate,
            "another_seed": (*replicate, "--seed", "5"),
            "json_without_a_plan": (*replicate, "--json"),
            "too_few": ("replicate", "few", "--out", "new"),
            "no_dataset": ("replicate", "nowhere", "--out", "new"),
            "no_folder": ("replicate", "demo"),
        },
    )
    out = folder / "replication"
    splits = json.loads((out / "aggregates/splits.json").read_text("utf-8"))
    metrics = json.loads((out / "aggregates/metrics.json").read_text("utf-8"))
    provenance = json.loads((out / "aggregates/provenance.json").read_text("utf-8"))
    value: dict[str, Json] = {
        "ends": ends,
        "files": [name for name in _names(out) if not name.startswith("run/")],
        "splits": packed(splits),
        "metrics": packed({name: metrics[name] for name in ("units", "items", "totals")}),
        "provenance": _outline(provenance),
    }
    yield told("replication", value, folder)


def _names(folder: Path) -> list[str]:
    names = run_files(folder)
    assert isinstance(names, list)
    return [str(name) for name in names]


def _outline(record: Json) -> Json:
    """Return the fields of a record, and the fields of those that hold some."""
    if not isinstance(record, Mapping):
        return type(record).__name__
    return {name: _outline(value) for name, value in record.items()}
