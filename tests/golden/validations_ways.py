"""Answers that are validated by the command, with all that it writes of them."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.ways import Ended, parsed, run

Record: TypeAlias = dict[str, Any]

_STREAMS: Final = {
    "failures": "written_failures",
    "coercions": "written_coercions",
    "summary": "written_summary",
}
_SECONDS: Final = re.compile(r"\b\d+\.\d(?= s\b)|(?<=duration_ms=)\d+\.\d")
_DIGESTS: Final = ("ruleset_digest", "schema_digest")


class Checked:
    """What one `validate` wrote: valid units, failures, coercions, the account, the last words."""

    def __init__(self, folder: Path, ended: Ended, *, has_digests: bool = False) -> None:
        files = {name: _taken(folder / file) for name, file in _STREAMS.items()}
        self.coercions = files["coercions"]
        summary: Json = None
        if files["summary"]:
            summary = _summary(json.loads(files["summary"]), has_digests=has_digests)
        self.value: dict[str, Json] = {
            "exit": ended.code,
            "valid": _records(ended.out),
            "failures": _records(files["failures"]),
            "coercions": text_answer(self.coercions),
            "summary": summary,
            "err": told(ended.err),
        }


def check(
    folder: Path,
    *arguments: str | Path,
    stdin: bytes | str = b"",
    settings: Mapping[str, str] | None = None,
    has_digests: bool = False,
) -> Checked:
    """Run `validate` with a file for each stream but the valid units."""
    written = [part for name, file in _STREAMS.items() for part in (f"--{name}", file)]
    given = stdin.encode() if isinstance(stdin, str) else stdin
    ended = run(["validate", *arguments, *written], folder, settings, stdin=given)
    return Checked(folder, ended, has_digests=has_digests)


def answer_of(
    name: str, folder: Path, *checked: Checked, given: Collection[str | bytes] = (), **more: Json
) -> Answer:
    """Return what one run of `validate`, or several one after another, came to."""
    texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in given]
    first, *others = (one.value for one in checked)
    return Answer(
        name=name,
        value={**first, **({"then": others} if others else {}), **more},
        # A line of a coercion is a record, whatever it is worded like.
        given=[*texts, *(one.coercions for one in checked)],
        masks=masks_of(folder),
    )


def commands_answer(
    name: str,
    folder: Path,
    *ended: Ended,
    given: Collection[str] = (),
    files: Mapping[str, Json] | None = None,
) -> Answer:
    """Return what commands that are no `validate` came to."""
    steps: list[Json] = [
        {"exit": one.code, "out": _records_or_text(one.out), "err": told(one.err)} for one in ended
    ]
    value: dict[str, Json] = {"commands": steps}
    if files is not None:
        value["files"] = files
    return Answer(name=name, value=value, given=list(given), masks=masks_of(folder))


def masks_of(folder: Path) -> dict[str, str]:
    """Return the masks of a folder that was made for one run."""
    return {**folder_masks(folder), folder.name: "<folder>"}


def files_in(folder: Path) -> dict[str, Json]:
    """Return what stands in the files of a folder that a user reads."""
    found: dict[str, Json] = {}
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        if path.suffix in (".jsonl", ".json") and "config" not in path.parts:
            text = path.read_text("utf-8")
            is_lines = path.suffix == ".jsonl"
            found[str(path.relative_to(folder))] = (
                list(map(_without_inputs, _records(text))) if is_lines else json.loads(text)
            )
    return found


def _without_inputs(record: Json) -> Json:
    """Return a valid unit with the names alone of what is no answer of its step."""
    about = record.get("_metadata") if isinstance(record, dict) else None
    if not isinstance(record, dict) or not isinstance(about, dict) or "answered" not in about:
        return record
    kept = {"unit_id", "_metadata", *about["answered"]}
    given: list[Json] = [name for name in record if name not in kept]
    own = {name: value for name, value in record.items() if name in kept}
    return {**own, "names of inputs and earlier fields": given}


def told(err: str) -> list[str]:
    """Return the lines of the standard error, with how long something took masked."""
    return text_answer(_SECONDS.sub("<time>", err))


def lines_of(records: Sequence[Record | str]) -> str:
    """Return records as JSON lines, texts as they stand."""
    texts = (one if isinstance(one, str) else json.dumps(one) for one in records)
    return "".join(f"{text}\n" for text in texts)


def _records_or_text(text: str) -> Json:
    try:
        return _records(text)
    except ValueError:
        return parsed(text)


def _records(text: str) -> list[Json]:
    # Other line breaks than this one may stand within a line.
    return [json.loads(line) for line in text.split("\n") if line]


def _summary(found: Record, *, has_digests: bool) -> Json:
    del found["seconds"]
    for name in _DIGESTS:
        digest = found.pop(name)
        if has_digests:
            # A whole digest would be masked.
            found[name] = f"{digest[:8]}…"
    return {name: one for name, one in found.items() if one not in (0, {}, [])}


def _taken(path: Path) -> str:
    """Read a file and take it away, so that the next run writes its own."""
    if not path.exists():
        return ""
    text = path.read_text("utf-8")
    path.unlink()
    return text
