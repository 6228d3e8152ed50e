"""All that is stored of a tenant as lines of JSON, in the open, for another store to take in."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound
from ai_psychiatrist.infrastructure.private_files import write_new
from ai_psychiatrist.interview.store.interview_store import InterviewStore
from ai_psychiatrist.reviews.archive.archive import Archive

FORMAT: Final = 1


@dataclass(slots=True)
class Written:
    """What a file of an export holds, and what it had to leave out."""

    assessments: int = 0
    interviews: int = 0
    unreadable: tuple[str, ...] = ()
    """Assessments, by their ids, and interviews whose words cannot be opened."""


def write_export(
    path: Path, tenant: str, archive: Archive, interviews: InterviewStore | None
) -> Written:
    """Write a new file that its owner alone can read; raises `OSError`.

    Its first line says what it is, its last how much it holds: without that one it is not whole.
    """
    written = Written()
    lines = _lines(written, tenant, archive, interviews)
    write_new(path, (f"{json.dumps(line)}\n".encode() for line in lines))
    return written


def _lines(
    written: Written, tenant: str, archive: Archive, interviews: InterviewStore | None
) -> Iterator[dict[str, object]]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    yield {"kind": "records", "format": FORMAT, "tenant": tenant, "at": at}
    for record_id in archive.opened.ids():
        try:
            record = archive.opened.of(record_id)
        except NotFound:
            # Erased since the list was made.
            continue
        except ArtifactMismatch:
            written.unreadable += (record_id,)
            continue
        written.assessments += 1
        yield {"kind": "assessment", **asdict(record)}
    for interview in () if interviews is None else interviews.opened():
        if interview is None:
            written.unreadable += ("an interview",)
        else:
            written.interviews += 1
            yield {"kind": "interview", **asdict(interview)}
    counts = {"assessments": written.assessments, "interviews": written.interviews}
    yield {"kind": "end", **counts, "unreadable": list(written.unreadable)}
