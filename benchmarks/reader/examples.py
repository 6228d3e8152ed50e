"""What the learned reader is trained on: answers, the question before each, and their labels."""

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.reader.passages import end_of, plain, stretches
from ai_psychiatrist.services.risk.questions import questions_in
from benchmarks.meaning.danger import labels_of
from benchmarks.meaning.items import DENIED, PRESENT
from benchmarks.meaning.other_talk import other_talk
from benchmarks.meaning.sets import BENCHMARKS, Record, records_of, tuning

FOLDER: Final = BENCHMARKS / "labelled" / "reader"
_PARTICIPANT: Final = frozenset({"participant", "patient"})
_NEAR_DANGER: Final = frozenset({Item.DEPRESSED, Item.FAILURE})
"""Items in whose sets nobody labelled danger, and whose words are near to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A stretch of an answer; what is `None` was not labelled."""

    source: str
    question: str
    words: str
    present: frozenset[Item] | None
    denied: frozenset[Item] | None
    danger: bool | None
    """Whether it tells of the speaker's own danger, now."""
    is_turn: bool
    """Whether it stands in a conversation, where nearly nothing tells of danger."""
    group: str
    """Records that stay on one side of a cut: a writer's neighbours contrast each other."""

    @property
    def is_held_out(self) -> bool:
        """Whether it chooses thresholds and is not trained on: a tenth, by its group's name."""
        return hashlib.sha256(f"fold {self.group}".encode()).digest()[0] % 10 == 0


def new_records(part: str) -> tuple[Record, ...]:
    """Load what was written for the reader: `part` is `train` or `measure`."""
    files = sorted(FOLDER.glob("*.jsonl"))
    return tuple(one for file in files for one in records_of(file) if one["part"] == part)


def training_examples(extra: Path | None = None) -> list[Example]:
    """Return all that may be trained on. `extra`: a folder with more files of such records."""
    files = () if extra is None else sorted(extra.glob("*.jsonl"))
    own = (one for file in files for one in records_of(file))
    return [
        *_of(tuning("items"), "items"),
        *_of(tuning("danger"), "danger"),
        *_of(tuning("interviews"), "interviews"),
        *_of(tuning("sessions"), "sessions"),
        *_of(other_talk(set_aside=False), "other talk"),
        *_of(new_records("train"), ""),
        *_of(own, ""),
    ]


def with_other_questions(examples: Sequence[Example], draw: random.Random) -> list[Example]:
    """Return examples without danger under open questions that stand before danger.

    Such a question tells of no danger; by itself the network would learn that it does.
    """
    asked = [one.question for one in examples if one.danger and one.question]
    questions = [one for one in asked if not questions_in(one)]
    safe = [one for one in examples if one.danger is False and one.present is not None]
    return [
        replace(one, question=draw.choice(questions), present=None, denied=None)
        for one in draw.sample(safe, min(len(safe), 2 * len(questions)))
    ]


def _of(records: Iterable[Record], source: str) -> Iterator[Example]:
    for record in records:
        name = source or str(record["set"])
        if "turns" in record:
            yield from _of_conversation(record, name)
        else:
            yield from _of_statement(record, name)


def _of_statement(record: Record, source: str) -> Iterator[Example]:
    labels: Sequence[Record] = record.get("labels", ())
    items = [one for one in labels if "item" in one]
    present = frozenset(Item(one["item"]) for one in items if one["status"] == PRESENT)
    denied = frozenset(Item(one["item"]) for one in items if one["status"] == DENIED)
    is_of_danger = source == "danger" or record.get("kind") == "danger"
    danger = is_own_danger(labels_of(record))
    if not is_of_danger and not danger and _NEAR_DANGER & present:
        danger = None
    parts = list(stretches(record["text"]))
    if len(parts) != 1:
        return
    yield Example(
        source=source,
        is_turn=False,
        group=record["id"][:-1] if "set" in record else record["id"],
        question=end_of(record["question"] or ""),
        words=plain(record["text"]),
        present=None if is_of_danger and not present else present,
        denied=None if is_of_danger and not denied else denied,
        danger=danger,
    )


def is_own_danger(labels: Iterable[Record]) -> bool | None:
    """Return whether one's own danger is told of, `None` where an alarm would be no error."""
    told = [(one["status"], one["level"]) for one in labels]
    if any(status == "affirmed" for status, _ in told):
        return True
    if any(status not in {"denied", "past"} and level != "low" for status, level in told):
        return None
    return False


def _of_conversation(record: Record, source: str) -> Iterator[Example]:
    items: Mapping[str, Record] = record["items"]
    question = ""
    for number, turn in enumerate(record["turns"], start=1):
        if turn["speaker"].casefold() not in _PARTICIPANT:
            question = turn["text"]
            continue
        dangers = [one for one in labels_of(record) if _is_here(one, number, turn["text"])]
        parts = list(stretches(turn["text"]))
        for start, end in parts:
            words = plain(turn["text"][start:end])
            said = {
                status: frozenset(
                    Item(key)
                    for key, label in items.items()
                    if label["status"] == status and _is_said(label, number, turn["text"], words)
                )
                for status in (PRESENT, DENIED)
            }
            is_whole = len(parts) == 1 or not any(said.values())
            yield Example(
                source=source,
                is_turn=True,
                group=record["id"],
                question=end_of(question),
                words=words,
                present=said[PRESENT] if is_whole else None,
                denied=said[DENIED] if is_whole else None,
                danger=is_own_danger(dangers) if len(parts) == 1 or not dangers else None,
            )


def _is_said(label: Record, number: int, turn: str, words: str) -> bool:
    if "turns" in label:
        return number in label["turns"]
    return any(_holds(words, quote) or _holds(quote, turn) for quote in label["quotes"])


def _is_here(label: Record, number: int, turn: str) -> bool:
    if "turn" in label:
        return bool(label["turn"] == number)
    return _holds(turn, label["quote"])


def _holds(words: str, quote: str) -> bool:
    looked_for, text = (" ".join(one.casefold().split()) for one in (quote, words))
    return bool(looked_for) and looked_for in text
