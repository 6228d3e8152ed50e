"""How answers to an interviewer's questions are read, with intervals."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.interview import GivenAnswer
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.messages import read_message
from ai_psychiatrist.interview.phq8.free_answers import ReadingKind
from benchmarks.meaning.agreement import kappa_row, share_of
from benchmarks.meaning.sets import Record

_LABELS: Final = {ReadingKind.UNCLEAR: "ambiguous", ReadingKind.UNREADABLE: "unreadable"}
"""What people call it; an answer to something else is off topic."""
_ASKED_AGAIN: Final = frozenset(_LABELS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer: a score as a digit or the kind of reading, by people and by the rules."""

    gold: str
    second: str | None
    found: str

    @property
    def is_right(self) -> bool:
        """Whether it is read as it was labelled."""
        return self.gold == self.found

    @property
    def is_wrong_score(self) -> bool:
        """Whether a score is given that is not the label's."""
        return self.found.isdecimal() and not self.is_right


def readings(records: Iterable[Record]) -> list[Answer]:
    """Read each answer."""
    return [_reading(record) for record in records]


def _reading(record: Record) -> Answer:
    given = GivenAnswer(question_id="q1", option_id=None, text=record["answer"], turn=1)
    read = read_message(given, Item(record["item"]))
    label = "declined" if read.is_refusal else _LABELS.get(read.answer.kind, "off_topic")
    return Answer(
        gold=_outcome(record),
        second=_outcome(record["second"]) if "second" in record else None,
        found=str(read.answer.score) if read.has_score else label,
    )


def _outcome(labels: Record) -> str:
    is_score = labels["reading"] == "score"
    return str(labels["score"]) if is_score else str(labels["reading"])


def agreed(read: Iterable[Answer]) -> list[Answer]:
    """Keep the answers that two people take for the same."""
    return [one for one in read if one.gold == one.second]


def agreement_rows(read: Sequence[Answer]) -> Iterator[str]:
    """Yield lines on how far first and second labels agree."""
    both = [(one.gold, one.second) for one in read if one.second is not None]
    kinds = [(_kind(first), _kind(second)) for first, second in both]
    yield kappa_row("answers: kind of reading", kinds)
    yield kappa_row("answers: kind and score", both)


def _kind(outcome: str) -> str:
    return "score" if outcome.isdecimal() else outcome


def table(read: Sequence[Answer]) -> Iterator[str]:
    """Yield the lines of the table of one set."""
    columns = ("right", "wrong score", "asked again", "off topic", "declined")
    yield f"| labelled | {' | '.join(columns)} |"
    yield f"| --- |{' ---: |' * len(columns)}"
    for gold in sorted({one.gold for one in read}):
        yield _row(gold, [one for one in read if one.gold == gold])
    yield _row("0–3", [one for one in read if one.gold.isdecimal()])
    yield _row("all", read)
    given = [one for one in read if one.found.isdecimal()]
    yield ""
    yield f"Of the scores given, right: {share_of(given, lambda one: one.is_right)}"


def _row(name: str, of: Sequence[Answer]) -> str:
    wrong = [one for one in of if not one.is_right]
    counts = (
        sum(one.found in _ASKED_AGAIN for one in wrong),
        sum(one.found == "off_topic" for one in wrong),
        sum(one.found == "declined" for one in wrong),
    )
    right = share_of(of, lambda one: one.is_right)
    wrong_scores = share_of(of, lambda one: one.is_wrong_score)
    return f"| {name} | {right} | {wrong_scores} | {' | '.join(map(str, counts))} |"
