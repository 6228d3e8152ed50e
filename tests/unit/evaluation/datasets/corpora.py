"""Builds small corpora on disk for tests."""

from collections.abc import Mapping
from pathlib import Path

from ai_psychiatrist.evaluation.datasets.dataset import Dataset, IssueCode

ITEMS = (
    "PHQ8_NoInterest,PHQ8_Depressed,PHQ8_Sleep,PHQ8_Tired,PHQ8_Appetite,PHQ8_Failure,"
    "PHQ8_Concentrating,PHQ8_Moving"
)
AVEC_2017 = f"Participant_ID,PHQ8_Binary,PHQ8_Score,Gender,{ITEMS}"
ZEROS = "0,0,1,0,0,0,0,0,0,0,0"


def daic(*rows: tuple[str, str], start: float = 1.0) -> str:
    """Return a DAIC-WOZ transcript with a row a second."""
    lines = [
        f"{start + at}\t{start + at + 0.5}\t{speaker}\t{words}"
        for at, (speaker, words) in enumerate(rows)
    ]
    return "\n".join(["start_time\tstop_time\tspeaker\tvalue", *lines, ""])


PLAIN = daic(("Ellie", "hello"), ("Participant", "hi"))


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder and return it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def session(number: int, content: str | bytes = PLAIN) -> dict[str, str | bytes]:
    """Return the file of one DAIC-WOZ session."""
    return {f"{number}_P/{number}_TRANSCRIPT.csv": content}


def found(dataset: Dataset) -> dict[IssueCode, list[str]]:
    """Return code → places."""
    places: dict[IssueCode, list[str]] = {}
    for oddity in dataset.issues:
        places.setdefault(oddity.code, []).append(oddity.where)
    return places
