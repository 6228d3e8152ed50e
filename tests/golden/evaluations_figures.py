"""Figures of runs: measured, compared, reported, tabled; and what is no run, or a damaged one."""

import json
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from openpyxl import load_workbook  # type: ignore[import-untyped]

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import FAULTS, only_for
from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json
from tests.golden.evaluations_shown import (
    all_shown,
    evaluate,
    json_file,
    page_file,
    shown,
    table_file,
    told,
)
from tests.golden.evaluations_talks import TIRED, jsonl, labelled_texts, write
from tests.golden.ways import model_server

_GOOD: Final = good_replies()
_PEOPLE: Final = range(1, 12)
"""As many as intervals need, and one."""
_BEFALLS: Final[Mapping[int, Script]] = {
    1: only_for(["scoring"], FAULTS["prose"]),
    2: only_for(["meta_review"], FAULTS["status_500"]),
    3: FAULTS["status_500"],
    4: FAULTS["hallucinated_quotes"],
    6: only_for(["danger"], FAULTS["prose"]),
    8: FAULTS["interviewer_quotes"],
}
"""Of the people by number, those whose model misbehaves, and how."""
_PARTS: Final[Mapping[str, Collection[str]]] = {
    "faulty": (
        "units",
        "items",
        "totals",
        "coverage_by_reason",
        "rule_warnings",
        "failures",
        "cost",
    ),
    "sessions": ("units", "items", "noise_ceiling", "severity", "binary"),
}
"""Of the figures of some runs, those that are kept."""


def answers(folder: Path) -> Iterator[Answer]:
    """Yield all that is reckoned from runs."""
    _make_runs(folder)
    yield from _measured(folder)
    yield from _compared(folder)
    yield from _reported(folder)
    yield from _tabled(folder)
    yield from _driven(folder)
    yield from _damaged(folder)


def _make_runs(folder: Path) -> None:
    labelled_texts(folder / "talks", _PEOPLE)
    evaluate(folder, "run", "talks", "--out", "runs/first", "--ablate")
    evaluate(folder, "run", "talks", "--out", "runs/unrelated", "--unrelated", "--limit", "4")
    jsonl(folder / "sessions.jsonl", list(_sessions()))
    evaluate(folder, "run", "sessions.jsonl", "--out", "runs/sessions")
    write(folder / "plain", {"a.txt": TIRED, "b.txt": f"{TIRED}Participant: I eat well.\n"})
    evaluate(folder, "run", "plain", "--out", "runs/plain")
    for name, script in {"served": _GOOD, "faulty": _by_person}.items():
        with model_server(script) as (_, served):
            settings = served | {"PYDANTIC_AI_RETRIES": "0"}
            evaluate(folder, "run", "talks", "--out", f"runs/{name}", settings=settings)


def _by_person(request: Request) -> Reply:
    for number, script in _BEFALLS.items():
        if f"I am number {number}.\n" in f"{request.transcript}\n":
            return script(request)
    return _GOOD(request)


def _sessions() -> Iterator[dict[str, object]]:
    """Yield two sessions of each of nine people, with a second rater."""
    for person in range(9):
        for session in range(2):
            yield {
                "id": f"{person}-{session}",
                "participant_id": person,
                "text": TIRED,
                "items": [person % 2, 0, 1, 2, 0, 0, 0, 0],
                "second_items": [person % 2, 0, 1, 1, 0, 0, 0, 0],
            }


def _measured(folder: Path) -> Iterator[Answer]:
    whole = shown(evaluate(folder, "metrics", "runs/first", "--json"))
    yield told("figures/metrics/first_json", whole, folder)
    for name, parts in _PARTS.items():
        some = shown(evaluate(folder, "metrics", f"runs/{name}", "--json"))
        yield told(f"figures/metrics/{name}_json", {**some, "out": _parts(some, parts)}, folder)
    for name in ("first", "plain", "unrelated"):
        ended = evaluate(folder, "metrics", f"runs/{name}")
        yield told(f"figures/metrics/{name}", shown(ended), folder)
    yield told("figures/metrics/file", _fields(folder / "runs/first/metrics.json"), folder)
    yield told("figures/metrics/list", shown(evaluate(folder, "metrics", "--list")), folder)
    write(folder, {"nobody.csv": "p99\n"})
    selected = {
        "split": ("metrics", "runs/first", "--split", "test"),
        "labelled": ("metrics", "runs/sessions", "--labelled"),
        "labelled_where_none_is": ("metrics", "runs/plain", "--labelled"),
        "nobody": ("metrics", "runs/first", "--split", "nobody.csv"),
        "no_split": ("metrics", "runs/first", "--split", "dev"),
    }
    yield told("figures/metrics/selected", all_shown(folder, selected), folder)


def _compared(folder: Path) -> Iterator[Answer]:
    first = "runs/first"
    for name, arguments in {
        "with_json": ("compare", first, "runs/faulty", "--json"),
        "with_table": ("compare", first, "runs/served"),
        "with_itself": ("compare", "runs/plain", "runs/plain", "runs/plain"),
        "several": ("compare", "runs/plain"),
    }.items():
        yield told(f"figures/compare/{name}", shown(evaluate(folder, *arguments)), folder)
    for name, sleep, said in (("one", 2, "well"), ("labels", 3, "well"), ("texts", 2, "badly")):
        files = {
            "a.txt": f"{TIRED}Participant: Yes.\n",
            "b.txt": f"{TIRED}Participant: I sleep {said}.\n",
            "labels.csv": f"unit_id,PHQ8_Sleep,PHQ8_Score\na,1,\nb,{sleep},\n",
        }
        write(folder / f"other-{name}", files)
        evaluate(folder, "run", f"other-{name}", "--out", f"others/{name}")
    speakers = ("--speakers", "participant-only")
    evaluate(folder, "run", "other-one", "--out", "others/speakers", *speakers)
    mode = ("--mode", "descriptions_only")
    evaluate(folder, "run", "other-one", "--out", "others/mode", *mode)
    evaluate(folder, "run", "other-one", "--out", "others/part", "--limit", "1")
    one = "others/one"
    ended = evaluate(folder, "metrics", one, "--compare", "others/mode")
    yield told("figures/compare/by_metrics", shown(ended), folder)
    refused = {
        "other_labels": ("compare", "others/one", "others/labels"),
        "other_texts": ("compare", "others/one", "others/texts"),
        "other_speakers": ("compare", "others/one", "others/speakers"),
        "other_datasets": ("compare", first, "runs/sessions"),
        "other_mode": ("compare", "others/one", "others/mode"),
        "fewer_units": ("compare", "others/one", "others/part"),
        "by_metrics": ("metrics", "others/one", "--compare", "others/labels"),
        "by_a_report": ("report", "others/one", "--compare", "others/texts"),
        "no_run": ("compare", first, "talks"),
        "no_folder": ("compare", first, "nowhere"),
        "all_of_a_folder": ("compare", "others"),
        "all_of_a_folder_json": ("compare", "others/one", "others/mode", "others", "--json"),
    }
    yield told("figures/compare/otherwise", all_shown(folder, refused), folder)


def _reported(folder: Path) -> Iterator[Answer]:
    ended = evaluate(folder, "report", "runs/first")
    page = page_file(folder / "runs/first/report.html")
    yield told("figures/report/first", {"report": shown(ended), "page": page}, folder)
    parts = ("reading", "items", "severities", "coverage", "failures", "cost", "units")
    ended = evaluate(folder, "report", "runs/faulty")
    page = page_file(folder / "runs/faulty/report.html", parts)
    yield told("figures/report/faulty", {"report": shown(ended), "page": page}, folder)
    compare = ("--compare", "runs/faulty", "--out", "compared.html")
    ended = evaluate(folder, "report", "runs/first", *compare)
    page = page_file(folder / "compared.html")
    assert isinstance(page, Mapping)
    differing = {
        name: lines for name, lines in page.items() if "differ" in name or "compar" in name
    }
    value: Json = {"report": shown(ended), "sections": list(page), "page": differing}
    yield told("figures/report/compared", value, folder)
    evaluate(folder, "report", "runs/plain")
    page = page_file(folder / "runs/plain/report.html", ("head", "reading", "evidence"))
    yield told("figures/report/plain", page, folder)
    (folder / "taken").mkdir()
    refused = {
        "onto_a_folder": ("report", "runs/plain", "--out", "taken"),
        "into_no_folder": ("report", "runs/plain", "--out", "none/page.html"),
        "of_no_run": ("report", "talks"),
        "compared_with_no_run": ("report", "runs/first", "--compare", "talks"),
    }
    yield told("figures/report/refused", all_shown(folder, refused), folder)


def _tabled(folder: Path) -> Iterator[Answer]:
    for name in ("first", "faulty"):
        ended = evaluate(folder, "table", f"runs/{name}", "--out", f"{name}.csv")
        value = {"table": shown(ended), "file": table_file(folder / f"{name}.csv")}
        yield told(f"figures/table/{name}", value, folder)
    ended = evaluate(folder, "table", "runs/plain", "--out", "plain.xlsx")
    book = load_workbook(folder / "plain.xlsx")
    sheets = {
        sheet.title: [
            ["" if cell is None else str(cell) for cell in row[:24]] for row in sheet.values
        ]
        for sheet in book
    }
    yield told("figures/table/workbook", {"table": shown(ended), "sheets": sheets}, folder)
    write(folder / "names", {"=a.txt": TIRED, "+b.txt": TIRED, "＝c.txt": TIRED})
    evaluate(folder, "run", "names", "--out", "others/names")
    evaluate(folder, "table", "others/names", "--out", "names.csv")
    rows = (folder / "names.csv").read_text("utf-8").splitlines()[1:]
    yield told("figures/table/names", [row.partition(",")[0] for row in rows], folder)
    (folder / "runs/broken").mkdir()
    (folder / "runs/broken/run.json").write_text("{", "utf-8")
    various = {
        "of_a_folder": ("table", "others", "--out", "others.csv"),
        "in_another_form": ("table", "runs/first", "--out", "first.txt"),
        "into_no_folder": ("table", "runs/first", "--out", "none/first.csv"),
        "of_no_run": ("table", "talks", "--out", "talks.csv"),
        "without_a_file": ("table", "runs/first"),
        "runs": ("runs", "runs"),
        "runs_json": ("runs", "runs", "--json"),
        "no_runs": ("runs", "talks"),
        "no_folder": ("runs", "nowhere"),
        "unit_of_nobody": ("unit", "runs/first", "p99", "--out", "unit.json"),
        "unit_of_no_run": ("unit", "talks", "p01", "--out", "unit.json"),
        "unit_into_no_folder": ("unit", "runs/first", "p01", "--out", "none/unit.json"),
    }
    yield told("figures/table/various", all_shown(folder, various), folder)


def _driven(folder: Path) -> Iterator[Answer]:
    with model_server(_GOOD) as (_, served):
        arguments = ("run", "talks", "--out", "runs/ablated", "--ablate", "--limit", "2")
        evaluate(folder, *arguments, settings=served)
    value = all_shown(
        folder,
        {
            "json": ("ablate", "runs/first", "--json"),
            "table": ("ablate", "runs/ablated"),
            "without_verdicts": ("ablate", "runs/plain"),
            "no_run": ("ablate", "talks"),
        },
    )
    lines = (folder / "runs/ablated/predictions.jsonl").read_text("utf-8").splitlines()
    drives = {
        one["unit_id"]: {name: item["drive"] for name, item in one["items"].items()}
        for one in map(json.loads, lines[:2])
    }
    yield told("figures/ablate", value | {"drives": drives}, folder)


def _damaged(folder: Path) -> Iterator[Answer]:
    good = folder / "others/one"
    unit = json.loads((good / "predictions.jsonl").read_text("utf-8").splitlines()[0])
    label = json.loads((good / "labels.jsonl").read_text("utf-8").splitlines()[0])
    items: Mapping[str, object] = label["items"]
    changes: Mapping[str, tuple[str, str]] = {
        "no_json": ("predictions.jsonl", "{oops"),
        "no_prediction": ("predictions.jsonl", '{"unit_id": "a"}'),
        "score_of_four": (
            "predictions.jsonl",
            json.dumps(unit | {"unit_id": "new", "items": {"PHQ8_Sleep": {"score": 4}}}),
        ),
        "unit_twice": ("predictions.jsonl", json.dumps(unit)),
        "unknown_field": ("predictions.jsonl", json.dumps(unit | {"unit_id": "new", "mood": 1})),
        "unit_that_nobody_asked_for": ("predictions.jsonl", json.dumps(unit | {"unit_id": "new"})),
        "label_of_four": (
            "labels.jsonl",
            json.dumps(label | {"unit_id": "new", "items": {**items, "PHQ8_Sleep": 4}}),
        ),
        "label_of_an_unknown_item": (
            "labels.jsonl",
            json.dumps(label | {"unit_id": "new", "items": {**items, "PHQ8_Mood": 1}}),
        ),
        "label_twice": ("labels.jsonl", json.dumps(label)),
        "label_of_nobody": ("labels.jsonl", json.dumps(label | {"unit_id": "new"})),
        "label_without_json": ("labels.jsonl", "[1]"),
        "unit_line": ("units.jsonl", '{"unit_id": ""}'),
    }
    ends: dict[str, Json] = {}
    for name, (file, line) in changes.items():
        run = folder / "damaged" / name
        shutil.copytree(good, run)
        with (run / file).open("a", encoding="utf-8") as kept:
            kept.write(f"{line}\n")
        ended = shown(evaluate(folder, "metrics", f"damaged/{name}", "--json"))
        ends[name] = {**ended, "out": _parts(ended, ["units"])}
    for name in ("predictions.jsonl", "labels.jsonl", "units.jsonl", "run.json", "failures.jsonl"):
        run = folder / "damaged" / f"without-{name}"
        shutil.copytree(good, run)
        (run / name).unlink()
        ended = shown(evaluate(folder, "metrics", f"damaged/without-{name}", "--json"))
        ends[f"without_{name}"] = {**ended, "out": _parts(ended, ["units"])}
    (folder / "damaged/label_of_nobody/metrics.json").unlink()
    (folder / "damaged/label_of_nobody/metrics.json").mkdir()
    ends["figures_that_cannot_be_written"] = shown(
        evaluate(folder, "metrics", "damaged/label_of_nobody")
    )
    yield told("figures/damaged", ends, folder)


def _parts(ended: Mapping[str, Json], parts: Collection[str]) -> Json:
    """Return some parts of the figures, and the list of what has to be read."""
    out = ended["out"]
    if not isinstance(out, Mapping):
        return out
    metrics = out["metrics"]
    assert isinstance(metrics, Mapping)
    kept = {name: value for name, value in metrics.items() if name in parts}
    return {"metrics": kept, "readings": out["readings"]}


def _fields(path: Path) -> Json:
    found = json_file(path)
    return list(found) if isinstance(found, Mapping) else found
