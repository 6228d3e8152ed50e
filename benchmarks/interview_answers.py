"""How answers in people's own words are read, on sets labelled by hand.

A line of a set is `{"id", "item", "text", "score"}`; the score is null where the answer has no
single reading. The sets of `labelled/` were labelled for a reading that gave a score only where it
knew every word: what it asked again ("twice a week") this one reads, and the person confirms it.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.free_answers import AnswerReading, ReadingKind, read_answer
from benchmarks.labelled_sets import LABELLED, is_sealed, records_in

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
_GIVEN: Final = frozenset({ReadingKind.ANCHOR, ReadingKind.READ})


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """An answer, the score that a reader gives it, and what is read from it."""

    id: str
    item: Item
    answer: str
    expected: int | None
    """`None` where it has no single reading."""
    reading: AnswerReading

    @property
    def found(self) -> int | None:
        """The score that is given."""
        return self.reading.score if self.reading.kind in _GIVEN else None

    @property
    def is_right(self) -> bool:
        """Whether both agree."""
        return self.expected == self.found

    @property
    def is_wrong_score(self) -> bool:
        """Whether a score is given that is not the reader's."""
        return self.found is not None and not self.is_right


def readings(path: Path) -> tuple[Labelled, ...]:
    """Read one set."""
    return tuple(map(_read, records_in(path)))


def _read(record: dict[str, str]) -> Labelled:
    item, answer = Item(record["item"]), record.get("text", record.get("answer", ""))
    return Labelled(
        id=record["id"],
        item=item,
        answer=answer,
        expected=None if record.get("score") is None else int(record["score"]),
        reading=read_answer(item, answer),
    )


def figures(read: Sequence[Labelled]) -> Iterator[str]:
    """Yield what share is read, and how much of it rightly."""
    readable = [one for one in read if one.expected is not None]
    open_ones = [one for one in read if one.expected is None]
    given = [one for one in read if one.found is not None]
    yield f"answers: {len(read)}, with one reading: {len(readable)}"
    were_read = sum(one.found is not None for one in readable)
    yield f"with one reading, read: {_share(were_read, len(readable))}"
    yield f"of what was read, right: {_share(sum(o.is_right for o in given), len(given))}"
    numbers = sum(one.found is not None for one in open_ones)
    yield f"numbers given to answers without a reading: {numbers}"


def misses(read: Sequence[Labelled]) -> Iterator[str]:
    """Yield the answers that are read wrongly, then those that are not read."""
    for one in sorted(read, key=lambda one: not one.is_wrong_score):
        if not one.is_right:
            reason = one.reading.unclear or one.reading.kind
            found = reason.value if one.found is None else str(one.found)
            yield f"{one.id} {one.item.label}: {one.answer} | {one.expected} | {found}"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "none"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures, and of a named set the misses as well."""
    parser = argparse.ArgumentParser(prog="interview_answers", description=__doc__)
    parser.add_argument("--answers", type=Path, help="a set of answers, a JSON object a line")
    options = parser.parse_args(arguments or [])
    if options.answers is not None:
        read = readings(options.answers)
        shown = () if is_sealed(options.answers) else ("", *misses(read))
        print("\n".join((*figures(read), *shown)))
        return
    for title, name in SETS:
        print(f"Answers in people's own words, {title}\n")
        print("\n".join(figures(readings(LABELLED / name))), end="\n\n")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
