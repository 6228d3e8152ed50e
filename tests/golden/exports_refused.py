"""Exports that cannot be made: options that do not go together, and what is no result."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.exports_given import RESULTS, Given
from tests.golden.ways import Ended, run

_ONE: Final = f"{RESULTS}/danger.json"
_OPTIONS: Final[dict[str, Sequence[str]]] = {
    "unknown_format": (_ONE, "--format", "xml"),
    "unknown_rows": (_ONE, "--format", "csv", "--rows", "people"),
    "rows_of_a_bundle": (_ONE, "--format", "fhir", "--rows", "items"),
    "words_of_results": (_ONE, "--format", "csv", "--with-words"),
    "questionnaire_of_a_table": (_ONE, "--format", "csv", "--questionnaire"),
    "subject_of_a_table": (_ONE, "--format", "jsonl", "--subject", "Patient/17"),
    "subject_without_type": (_ONE, "--format", "fhir", "--subject", "Anna"),
    "subject_that_is_empty": (_ONE, "--format", "fhir", "--subject", ""),
    "subject_over_http": (_ONE, "--format", "fhir", "--subject", "http://x.org/Patient/1"),
    "subject_of_many": (RESULTS, "--format", "fhir", "--subject", "Patient/17"),
    "step": (_ONE, "--format", "csv", "--step", "score"),
    "classic_stages": (_ONE, "--format", "csv", "--classic-stages"),
    "retry_failed": (_ONE, "--format", "csv", "--retry-failed"),
    "rows_without_format": (_ONE, "--rows", "items"),
    "words_without_format": (_ONE, "--with-words"),
    "questionnaire_without_format": (_ONE, "--questionnaire"),
    "subject_without_format": (_ONE, "--subject", "Patient/17"),
    "result_without_format": (_ONE,),
    "results_without_format": (RESULTS,),
    "nothing_there": ("none.json", "--format", "csv"),
    "no_run_there": ("none",),
    "out_is_a_folder": (_ONE, "--format", "csv", "--out", RESULTS),
    "out_without_folder": (_ONE, "--format", "csv", "--out", "no/such/table.csv"),
    "out_is_the_result": (_ONE, "--format", "csv", "--out", _ONE),
    "out_is_a_device": (_ONE, "--format", "csv", "--out", "/dev/null"),
    "run_as_fhir": ("run", "--format", "fhir"),
    "run_with_words": ("run", "--format", "csv", "--rows", "items", "--with-words"),
    "run_with_unknown_step": ("run", "--step", "nap", "--out", "nap"),
    "run_into_a_file": ("run", "--out", _ONE),
}
_Change = Callable[[dict[str, Any]], object]
_CONTENTS: Final[dict[str, Callable[[str], bytes]]] = {
    "empty": lambda _: b"",
    "blank": lambda _: b" \n",
    "cut_off": lambda text: text.encode()[:2000],
    "not_utf8": lambda text: text.encode().replace(b'"status"', b'"st\xff\xfetus"'),
    "not_json": lambda _: b"I sleep badly, most nights.",
    "list": lambda text: f"[{text}]".encode(),
    "two_results": lambda text: f"{text}\n{text}".encode(),
    "key_twice": lambda text: text.replace("{", '{"status": "failed", ', 1).encode(),
    "byte_order_mark": lambda text: text.encode("utf-8-sig"),
    "utf16": lambda text: text.encode("utf-16"),
    "nan": lambda text: text.replace("1250.0", "NaN", 1).encode(),
    "deep": lambda _: b'{"a":' * 3000,
    "text": lambda text: json.dumps(text).encode(),
}


def answers(folder: Path, given: Sequence[Given]) -> Iterator[Answer]:
    """Yield what is told of each, and what is exported of odd files that are results."""
    masks = folder_masks(folder)
    for name, arguments in _OPTIONS.items():
        yield Answer(
            name=f"refused/{name}", value=run(["export", *arguments], folder).value, masks=masks
        )
    result = next(one.result for one in given if one.name == "danger")
    contents = {name: make(json.dumps(result)) for name, make in _CONTENTS.items()}
    contents |= {
        name: json.dumps(_changed(result, change)).encode() for name, change in _CHANGES.items()
    }
    for name, content in contents.items():
        (folder / "odd.json").write_bytes(content)
        value: dict[str, Json] = {
            kind: _shortened(run(["export", "odd.json", "--format", kind], folder))
            for kind in ("csv", "fhir")
        }
        yield Answer(name=f"refused/file_{name}", value=value, masks=masks)
    yield from _folders(folder)


def _shortened(ended: Ended) -> Json:
    """Return the end without a bundle, and without the lines of a traceback."""
    out: Json = "a bundle" if ended.out.startswith("{") else text_answer(ended.out)
    err = ["a traceback"] if "Traceback (most" in ended.err else text_answer(ended.err)
    return {"exit": ended.code, "out": out, "err": err}


def _changed(result: Mapping[str, Any], change: _Change) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps(result))
    change(copied)
    return copied


def _sleep(result: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = result["quantitative"]["items"]["PHQ8_Sleep"]
    return found


def _mood(result: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = result["quantitative"]["items"]["PHQ8_Depressed"]
    return found


_CHANGES: Final[dict[str, _Change]] = {
    "earlier_version": lambda one: one.update(schema_version="3"),
    "later_version": lambda one: one.update(schema_version="99"),
    "version_as_number": lambda one: one.update(schema_version=4),
    "no_version": lambda one: one.pop("schema_version"),
    "part": lambda one: one.pop("quantitative"),
    "no_status": lambda one: one.pop("status"),
    "no_risk": lambda one: one.pop("risk"),
    "unknown_status": lambda one: one.update(status="finished"),
    "unknown_field": lambda one: one.update(mood="fine"),
    "id_that_is_none": lambda one: one.update(assessment_id="first"),
    "id_that_is_empty": lambda one: one.update(assessment_id=""),
    "score_in_words": lambda one: _sleep(one).update(score="two"),
    "score_out_of_range": lambda one: _sleep(one).update(score=4),
    "score_that_is_true": lambda one: _sleep(one).update(score=True),
    "score_and_reason": lambda one: _sleep(one).update(score=1),
    "reason_and_no_score": lambda one: _mood(one).update(score=None),
    "item_missing": lambda one: one["quantitative"]["items"].pop("PHQ8_Sleep"),
    "item_too_many": lambda one: one["quantitative"]["items"].update(PHQ8_Joy=_sleep(one)),
    "another_total": lambda one: one["quantitative"].update(total_score_min=20),
    "offset_below_zero": lambda one: _mood(one)["evidence"][0]["segments"][0].update(start=-4),
    "unknown_danger": lambda one: one["risk"].update(level="extreme"),
    "no_signs": lambda one: one["risk"].update(signals=[]),
    "model_that_is_a_formula": lambda one: one["models"]["quantitative"].update(
        answered_by=["=1+1"]
    ),
}


def _folders(folder: Path) -> Iterator[Answer]:
    masks = folder_masks(folder)
    folders: dict[str, dict[str, bytes | None]] = {
        "empty": {},
        "without_json": {"a.txt": b"Participant: Hello.\n"},
        "one_broken": {"a.json": None, "b.json": b"{"},
        "same_twice": {"a.json": None, "b.json": None},
        "of_a_run_that_is_empty": {"run.json": b"{}", "predictions.jsonl": b""},
    }
    one = (folder / _ONE).read_bytes()
    for name, files in folders.items():
        place = folder / f"folder-{name}"
        place.mkdir()
        for file, content in files.items():
            (place / file).write_bytes(one if content is None else content)
        for kind in ("csv", "fhir"):
            out = folder / "never"
            ended = run(["export", place.name, "--format", kind, "--out", out.name], folder)
            shown = run(["export", place.name, "--format", kind], folder)
            value: dict[str, Json] = {"ended": ended.value, "written": out.exists()}
            value["lines_printed"] = len(shown.out.splitlines())
            out.unlink(missing_ok=True)
            yield Answer(name=f"refused/folder_{name}_{kind}", value=value, masks=masks)
    yield from _runs(folder)


def _runs(folder: Path) -> Iterator[Answer]:
    """Yield exports of a run whose files were changed."""
    changes: dict[str, tuple[str, Callable[[bytes], bytes | None]]] = {
        "without_predictions": ("predictions.jsonl", lambda _: None),
        "predictions_cut_off": ("predictions.jsonl", lambda content: content[: len(content) // 2]),
        "predictions_not_json": ("predictions.jsonl", lambda content: b"no line\n" + content),
        "predictions_emptied": ("predictions.jsonl", lambda _: b""),
        "predictions_twice": ("predictions.jsonl", lambda content: content * 2),
        "predictions_as_lists": ("predictions.jsonl", lambda _: b"[1]\n"),
        "without_ledger": ("ledger.sqlite", lambda _: None),
        "ledger_overwritten": ("ledger.sqlite", lambda _: b"no store at all" * 100),
        "ledger_cut_off": ("ledger.sqlite", lambda content: content[:5000]),
        "ledger_emptied": ("ledger.sqlite", lambda _: b""),
        "run_json_cut_off": ("run.json", lambda content: content[:40]),
    }
    for name, (file, change) in changes.items():
        place = folder / "changed"
        shutil.copytree(folder / "run", place)
        for wal in place.glob("ledger.sqlite-*"):
            wal.unlink()
        content = change((place / file).read_bytes())
        (place / file).unlink()
        if content is not None:
            (place / file).write_bytes(content)
        value = {
            "table": run(["export", "changed", "--format", "csv"], folder).value,
            "steps": run(["export", "changed", "--out", "steps"], folder).value,
        }
        shutil.rmtree(place)
        shutil.rmtree(folder / "steps", ignore_errors=True)
        yield Answer(name=f"refused/run_{name}", value=value, masks=folder_masks(folder))
