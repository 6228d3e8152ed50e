"""Whole interviews with written people: what is recorded of what they say, and what it costs them.

Each person was written before, truth first: what is so on how many days, and what the person types
when an item is asked for the first, second and third time. `python -m benchmarks.interview_people
FILE` plays each to the end.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.unit.interview.built import desk

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    InterviewState,
    MessageSpeaker,
    Question,
    QuestionPurpose,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.corrections import named_items
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from benchmarks.labelled_sets import is_sealed, records_in

_MOST_TURNS: Final = 100
_ANCHORS: Final = ("Not at all", "Several days", "More than half the days", "Nearly every day")
_MARKS: Final = ("before", "last one", "previous", "earlier", "wrong", "sorry", "actually")


@dataclass(slots=True)
class Played:
    """One person's interview, played to its end."""

    person: Mapping[str, Any]
    snapshot: InterviewSnapshot
    asks: Counter[Item] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list, repr=False)

    def outcomes(self) -> Iterator[tuple[Item, int | None, int | None, bool]]:
        """Yield each item with what is true, what was recorded, and whether it was stated."""
        recorded = {one.item: one.score for one in self.snapshot.items}
        for item in Item:
            truth = self.person["truth"][item.value]
            yield item, truth["score"], recorded[item], bool(truth.get("stated"))


class Player:
    """Answers as a person was written."""

    def __init__(self, person: Mapping[str, Any]) -> None:
        self._person = person
        self._given: Counter[Item] = Counter()
        self._yes = count()
        self._taken_back: set[Item] = set()
        """Of the items that the person corrects, those that were corrected by now."""

    def reply(self, question: Question) -> str:  # noqa: PLR0911  # one for each purpose
        """Return what the person types."""
        person, item = self._person, question.item
        match question.purpose:
            case QuestionPurpose.READ_BACK if item is not None:
                return self._read_back(question, item)
            case QuestionPurpose.WHICH_ITEM:
                return str(person["which"])
            case QuestionPurpose.ONCE_MORE:
                return str(person["once_more"])
            case QuestionPurpose.CONFIRM_STOP:
                return str(person["confirm_stop"])
            case QuestionPurpose.GO_ON | QuestionPurpose.LAST_WORD:
                return str(person["go_on"])
            case QuestionPurpose.REVIEW:
                self._taken_back.update(map(Item, person.get("changes", {})))
                return str(person["review"])
        assert item is not None
        if item in self._taken_back:
            return _ANCHORS[person["changes"][item.value]["final"]]
        said = person["said"][item.value]
        at = min(self._given[item], len(said) - 1)
        self._given[item] += 1
        text = "\n".join(said[at])
        self._note_corrections(item, text)
        return text

    def _note_corrections(self, asked: Item, text: str) -> None:
        """Note which items a message takes back: those that it names, or the one before."""
        given = [item for item in map(Item, self._person.get("changes", {})) if self._given[item]]
        for item in given:
            is_marked = any(word in text.casefold() for word in _MARKS)
            if item is not asked and (named_items(text, [item]) or is_marked):
                self._taken_back.add(item)

    def _read_back(self, question: Question, item: Item) -> str:
        read = next(o.score for o in question.options if o.kind is AnswerKind.CONFIRM)
        truth = self._person["truth"][item.value]["score"]
        changed = self._person.get("changes", {}).get(item.value)
        if changed:
            truth = changed["final" if item in self._taken_back else "first"]
        if read == truth:
            words = self._person["yes"]
            return str(words[next(self._yes) % len(words)])
        if item in self._taken_back:
            return f"no, {_ANCHORS[truth].lower()}"
        return str(self._person["wrong"].get(item.value, "no"))


async def play(service: InterviewService, person: Mapping[str, Any]) -> Played:
    """Play an interview to its end."""
    snapshot = await service.create("phq8", {}, None)
    player, played = Player(person), Played(person, snapshot)
    seen: set[str] = set()
    for turn in range(_MOST_TURNS):
        question = snapshot.question
        if question is None:
            break
        spoken = snapshot.notice
        last = snapshot.messages[-1].text if snapshot.messages else ""
        is_set_aside = snapshot.state is InterviewState.PAUSED
        is_new = question.id not in seen and not (is_set_aside or _is_repeat(snapshot, question))
        if question.purpose is QuestionPurpose.ASK and question.item is not None and is_new:
            played.asks[question.item] += 1
        seen.add(question.id)
        text = player.reply(question)
        played.lines += [f"I: {spoken} | {last}", f"P [{question.purpose}]: {text}"]
        sent = AnswerSubmission(
            question_id=question.id,
            idempotency_key=f"k{turn}",
            version=snapshot.version,
            text=text,
        )
        snapshot = await service.answer(snapshot.id, sent)
    played.snapshot = snapshot
    played.lines.append(f"I: {snapshot.notice} ({snapshot.state}, {snapshot.end_reason})")
    return played


def _is_repeat(snapshot: InterviewSnapshot, question: Question) -> bool:
    """Whether the same words were put before: after an explanation, a pause or a greeting."""
    said = [m.text for m in snapshot.messages if m.speaker is MessageSpeaker.INTERVIEWER]
    return said.count(question.text) > 1


def figures(all_played: list[Played]) -> dict[str, Any]:
    """Return the figures of all people together."""
    stated = right = wrong = lost = invented = asks = asked = needless = reasks = 0
    for one in all_played:
        for item, truth, recorded, is_stated in one.outcomes():
            # What was never asked, after a stop or a hold, was never said.
            was_said = bool(one.asks[item]) or recorded is not None
            is_counted = is_stated and truth is not None and was_said
            stated += is_counted
            right += is_counted and recorded == truth
            wrong += is_counted and recorded is not None and recorded != truth
            lost += is_counted and recorded is None
            invented += not is_counted and recorded is not None
            if one.asks[item]:
                asked += 1
                asks += one.asks[item]
                again = one.asks[item] - 1
                reasks += again
                says_at = one.person["truth"][item.value].get("says_at") or 1
                needless += max(0, one.asks[item] - says_at) if is_counted else 0
    return {
        "people": len(all_played),
        "stated": stated,
        "right": right,
        "wrong": wrong,
        "lost": lost,
        "scores of what was not stated": invented,
        "asks an item": round(asks / max(asked, 1), 2),
        "asked again": reasks,
        "asked again after a clear answer": needless,
        "of asks": asks,
        "ended": dict(Counter(str(one.snapshot.end_reason) for one in all_played)),
    }


def main() -> None:
    """Play the people of a file and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="print what differs, item by item")
    parser.add_argument("--person", help="print the whole interview of this one")
    given = parser.parse_args()
    people = records_in(given.file)
    if is_sealed(given.file) and (given.show or given.person):
        parser.error("of a sealed file totals alone are printed")
    with tempfile.TemporaryDirectory() as folder, desk(Path(folder)) as at:
        if given.person:
            people = [one for one in people if one["id"] == given.person]
        all_played = [asyncio.run(play(at.service, one)) for one in people]
    for one in all_played:
        if given.person:
            print("\n".join(one.lines))
        if given.show:
            for item, truth, recorded, is_stated in one.outcomes():
                if (truth if is_stated else None) != recorded:
                    print(
                        one.person["id"],
                        item.value,
                        "true",
                        truth,
                        "stated",
                        is_stated,
                        "recorded",
                        recorded,
                        one.asks[item],
                    )
    for name, value in figures(all_played).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
