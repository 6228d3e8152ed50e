"""How answers in people's own words are read, on sets labelled by hand before any tuning.

The answers are frozen; labels that were corrected carry a `note`. They are in
`labelled/interview_answers.jsonl`, to which the reading was tuned,
`labelled/interview_answers_held_out.jsonl`, which was measured once and then mended to, and
`labelled/interview_answers_corrections.jsonl`: people who take back what they said, contradict
themselves, or come to the point late. `labelled/interview_answers_opened.jsonl` was a sealed set.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.free_answers import ReadingKind, read_answer
from benchmarks.labelled_sets import LABELLED

TUNED: Final = "interview_answers.jsonl"
HELD_OUT: Final = "interview_answers_held_out.jsonl"
CORRECTIONS: Final = "interview_answers_corrections.jsonl"
OPENED: Final = "interview_answers_opened.jsonl"
SETS: Final = (
    ("tuned to", TUNED),
    ("first held out", HELD_OUT),
    ("corrected, contradictory or wandering", CORRECTIONS),
    ("sealed until they were opened", OPENED),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """An answer, what a reader took it for, and what is read from it."""

    id: str
    item: Item
    answer: str
    expected: str
    """A score as a digit, or the kind of reading."""
    found: str

    @property
    def is_right(self) -> bool:
        """Whether both agree."""
        return self.expected == self.found

    @property
    def is_wrong_score(self) -> bool:
        """Whether a score is given that is not the reader's."""
        return self.found.isdecimal() and not self.is_right


def readings(name: str) -> tuple[Labelled, ...]:
    """Read one set."""
    lines = (LABELLED / name).read_text(encoding="utf-8").splitlines()
    return tuple(map(_read, map(json.loads, lines)))


def _read(record: dict[str, str]) -> Labelled:
    item = Item(record["item"])
    reading = read_answer(item, record["answer"])
    is_score = record["reading"] == ReadingKind.SCORE
    return Labelled(
        id=record["id"],
        item=item,
        answer=record["answer"],
        expected=str(record["score"]) if is_score else record["reading"],
        found=reading.kind.value if reading.score is None else str(reading.score),
    )


def table(read: Sequence[Labelled]) -> Iterator[str]:
    """Yield the lines of the table of one set."""
    yield "| a reader takes it for | answers | right | wrong score | left unclear |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for expected in sorted({one.expected for one in read}):
        yield _row(expected, [one for one in read if one.expected == expected])
    yield _row("all", read)


def _row(name: str, of: Sequence[Labelled]) -> str:
    right = sum(one.is_right for one in of)
    wrong = sum(one.is_wrong_score for one in of)
    return f"| {name} | {len(of)} | {right} | {wrong} | {len(of) - right - wrong} |"


def worst(read: Sequence[Labelled]) -> str:
    """Name the most frequent errors."""
    errors = Counter((one.expected, one.found) for one in read if not one.is_right)
    return ", ".join(f"{a}→{b} {count}" for (a, b), count in errors.most_common(6)) or "none"


def main() -> None:
    """Print the tables."""
    for title, name in SETS:
        read = readings(name)
        print(f"Answers in people's own words, {title}\n")
        print("\n".join(table(read)))
        print(f"\nmost frequent errors: {worst(read)}\n")


if __name__ == "__main__":
    main()
