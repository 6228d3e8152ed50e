"""All that is stored of a tenant as lines of JSON, in the open: what one store gives to another."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError, NotFound
from ai_psychiatrist.infrastructure.given_files import open_regular, reading_from
from ai_psychiatrist.infrastructure.private_files import write_new
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.store.interviews import OpenedInterview
from ai_psychiatrist.store.moving import OpenedRecord
from ai_psychiatrist.store.store import Store

T = TypeVar("T")

FORMAT: Final = 1

_FIELD: Final = "FILE"
_RECORD: Final = TypeAdapter(OpenedRecord)
_INTERVIEW: Final = TypeAdapter(OpenedInterview)


@dataclass(slots=True)
class Moved:
    """What an export has written, or an import stored, and what it had to leave out."""

    assessments: int = 0
    interviews: int = 0
    unreadable: tuple[str, ...] = ()
    """Assessments, by their ids, and interviews whose words cannot be opened for an export."""
    were_there: int = 0
    """How many an import found stored already."""


def write_export(path: Path, tenant: str, store: Store) -> Moved:
    """Write a new file that its owner alone can read; raises `OSError`.

    Its first line says what it is, its last how much it holds: without that one it is not whole.
    """
    written = Moved()
    lines = _lines(written, tenant, store)
    write_new(path, (f"{json.dumps(line)}\n".encode() for line in lines))
    return written


def _lines(written: Moved, tenant: str, store: Store) -> Iterator[dict[str, object]]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    yield {"kind": "records", "format": FORMAT, "tenant": tenant, "at": at}
    for record_id in store.opened.ids():
        try:
            record = store.opened.of(record_id)
        except NotFound:
            # Erased since the list was made.
            continue
        except ArtifactMismatch:
            written.unreadable += (record_id,)
            continue
        written.assessments += 1
        yield {"kind": "assessment", **asdict(record)}
    for interview in store.interviews.opened():
        if interview is None:
            written.unreadable += ("an interview",)
        else:
            written.interviews += 1
            yield {"kind": "interview", **asdict(interview)}
    counts = {"assessments": written.assessments, "interviews": written.interviews}
    yield {"kind": "end", **counts, "unreadable": list(written.unreadable)}


def tenant_in(path: Path) -> str:
    """Return whose records a file holds, once all of it was looked through.

    Raises `InputError` for a file that is none of an export, or not whole.
    """
    head, counts, end = None, {"assessment": 0, "interview": 0}, None
    for line in _read(path):
        kind = line.get("kind")
        if head is None:
            if kind != "records" or line.get("format") != FORMAT:
                _refuse("is no file of `records export`, or of another version")
            head = line
        elif end is not None or not isinstance(kind, str) or kind not in {*counts, "end"}:
            _refuse("has a line that `records export` does not write")
        elif kind == "end":
            end = line
        else:
            counts[kind] += 1
    found = [counts["assessment"], counts["interview"]]
    if head is None or end is None or found != [end.get("assessments"), end.get("interviews")]:
        _refuse("is not whole: export again")
    return str(head["tenant"])


def take_in(path: Path, store: Store) -> Moved:
    """Store what a file holds, each thing by itself, and nothing that is there already.

    Raises `InputError`, and `StoreUnusable`; what was stored before stays, and is passed over the
    next time.
    """
    taken, interviews = Moved(), InterviewStore(store.interviews)
    for line in _read(path):
        match line.pop("kind"):
            case "assessment":
                is_new = store.opened.take_in(_given(_RECORD, line))
                taken.assessments += is_new
            case "interview":
                is_new = interviews.take_in(_given(_INTERVIEW, line))
                taken.interviews += is_new
            case _:
                continue
        taken.were_there += not is_new
    return taken


def _given(shape: TypeAdapter[T], line: dict[str, object]) -> T:
    try:
        return shape.validate_python(line)
    except ValidationError:
        # It quotes what was given.
        _refuse("has a line that `records export` does not write")


def _read(path: Path) -> Iterator[dict[str, object]]:
    with reading_from("the file", field=_FIELD), open_regular(path) as file:
        for number, written in enumerate(file, start=1):
            try:
                line = json.loads(written)
            except (ValueError, RecursionError):
                line = None
            if not isinstance(line, dict):
                _refuse(f"has no JSON object in line {number}")
            yield line


def _refuse(why: str) -> NoReturn:
    raise InputError(f"the file {why}", field=_FIELD)
