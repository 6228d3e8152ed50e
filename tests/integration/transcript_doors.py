"""Each file of `tests/data/transcripts` at every door; prints the table of its index.

Run `python -m tests.integration.transcript_doors` to make the table anew.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with

FILES: Final = Path(__file__).parents[1] / "data" / "transcripts"
INDEX: Final = FILES / "README.md"
HEAD: Final = (
    "| file | participant | as written by | what is special | what becomes of it | with the "
    "participant named |\n"
    "| --- | --- | --- | --- | --- | --- |\n"
)
_ROW: Final = re.compile(r"^\| `([^`]+)` \| (?:`([^`]+)`)? ?\| (.+?) \| (.+?) \|", re.MULTILINE)
_MEDIA_TYPES: Final = {
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".json": "application/octet-stream",
    ".jsonl": "application/jsonl",
    ".srt": "application/x-subrip",
    ".vtt": "text/vtt",
}
Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Sample:
    """A file, the label of its participant where the file does not tell, and who wrote it."""

    file: str
    participant: str | None
    tool: str = ""
    peculiarity: str = ""

    @property
    def path(self) -> Path:
        """Where it lies."""
        return FILES / self.file


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a file at one door."""

    words: str
    """`read`, or why it was refused."""
    turns: tuple[object, ...] = ()
    """What was read, for a comparison with other doors."""


def samples() -> tuple[Sample, ...]:
    """Return the files that the index lists."""
    rows = _ROW.findall(INDEX.read_text("utf-8"))
    return tuple(Sample(file, label or None, *words) for file, label, *words in rows)


def assessed(sample: Sample, folder: Path, participant: str | None = None) -> Seen:
    """Give a file to the command."""
    named = [] if participant is None else ["--participant", participant]
    done = run_here(["assess", str(sample.path), "--json", *named], folder)
    if done.code in {0, 1}:
        return _read(json.loads(done.out))
    assert done.code == 2, done.err
    return Seen(_reason(done.err))


def sent(sample: Sample, client: httpx.Client, participant: str | None = None) -> Seen:
    """Send a file over HTTP as it is."""
    response = client.post(
        "/full_pipeline",
        content=sample.path.read_bytes(),
        headers={"Content-Type": _MEDIA_TYPES.get(sample.path.suffix, "text/plain")},
        params={} if participant is None else {"participant": participant},
    )
    return _answered(response)


def sent_as_text(sample: Sample, client: httpx.Client, participant: str | None = None) -> Seen:
    """Send what a file holds as the text of a request."""
    body: Json = {"transcript_text": sample.path.read_bytes().decode("utf-8")}
    if participant is not None:
        body["speakers"] = {participant: "participant"}
    return _answered(client.post("/full_pipeline", json=body))


def checked(sample: Sample, folder: Path) -> Seen:
    """Open a file as a dataset of one interview."""
    done = run_here(["evaluate", "datasets", "check", str(sample.path), "--json"], folder)
    assert done.code in {0, 1, 2}, done.err
    if done.code == 2:
        return Seen(_reason(done.err))
    found = json.loads(done.out)
    if found["readable_units"]:
        return Seen("read")
    lost = [group["code"] for group in found["oddities"] if group["cost"] == "unit"]
    return Seen(f"refused: {', '.join(code.replace('_', ' ') for code in lost)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """What came of a file at each door, given as it is and with its participant named."""

    by_command: Seen
    by_http: Seen
    by_dataset: Seen
    named: Seen | None
    """Given to the command, where the file does not tell who its participant is."""

    def row(self, sample: Sample) -> str:
        """Return the line of the table about the file."""
        seen = {"`assess`": self.by_command.words, "HTTP": self.by_http.words}
        seen["`evaluate`"] = self.by_dataset.words
        label = "" if sample.participant is None else f"`{sample.participant}`"
        named = "" if self.named is None else self.named.words
        becomes = "; ".join(_outcomes(seen))
        cells = (f"`{sample.file}`", label, sample.tool, sample.peculiarity, becomes, named)
        return f"| {' | '.join(cells)} |"


def at_doors(sample: Sample, client: httpx.Client, folder: Path) -> Doors:
    """Give a file to every door."""
    participant = sample.participant
    return Doors(
        by_command=assessed(sample, folder),
        by_http=sent(sample, client),
        by_dataset=checked(sample, folder),
        named=None if participant is None else assessed(sample, folder, participant),
    )


def _outcomes(seen: Mapping[str, str]) -> Iterator[str]:
    """Yield what most doors say, and what others say with their name."""
    ((usual, _),) = Counter(seen.values()).most_common(1)
    yield usual
    for door, words in seen.items():
        if words != usual:
            yield f"{door}: {words}"


def _answered(response: httpx.Response) -> Seen:
    if response.status_code == 200:
        return _read(response.json())
    assert response.status_code == 422, response.text
    problem = response.json()
    if problem["code"] == "speakers_unknown":
        return Seen("refused: speakers unknown")
    return Seen(_reason(problem["detail"]))


def _read(result: Json) -> Seen:
    transcript = result["transcript"]
    assert isinstance(transcript, dict)
    same = {key: transcript[key] for key in ("form", "turns", "turn_seconds", "speakers")}
    assumed = ", speakers assumed" if result["speakers_assumed"] else ""
    return Seen(f"read{assumed}", (json.dumps(same), result["transcript_text"]))


def _reason(message: str) -> str:
    """Return the fault in the words of the oddities of datasets."""
    return f"refused: {next(fault for words, fault in _FAULTS.items() if words in message)}"


_FAULTS: Final = {
    "name the participant": "speakers unknown",
    "names none": "speakers unknown",
    "in no form of a transcript": "unknown form",
    "several interviews": "several interviews",
    "it is not text": "not text",
    "is a table of labels": "unknown form",
}


def _table() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        with client_of(settings_with(state)) as client:
            for sample in samples():
                yield at_doors(sample, client, state).row(sample)


if __name__ == "__main__":
    print(HEAD + "\n".join(_table()))  # noqa: T201
