"""Prints how well rules, learned reader, and both together read what nobody trained or tuned on."""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.evidence import Quote, Relevance
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import is_to_be_read
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.off_loop import work_inline
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.reader.learned_reader import (
    LISTING,
    SHIPPED,
    LearnedReader,
    PassageReading,
)
from ai_psychiatrist.services.reader.passages import passages_of
from ai_psychiatrist.services.reader.reading import TranscriptReading
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from benchmarks.meaning.agreement import Proportion, share_of
from benchmarks.meaning.danger import STATUSES, labels_of
from benchmarks.meaning.items import DENIED, PRESENT, gold_of
from benchmarks.meaning.other_talk import is_serious, other_talk
from benchmarks.meaning.sets import Record, open_sealed, transcript_of
from benchmarks.reader.examples import is_own_danger, new_records

_ALONE_FROM: Final = 0.5
"""From here on the network alone is taken to say that something is so."""
_STATEMENTS: Final = "statements of danger"
_INTERVIEWS: Final = "interviews"
_VOICES: Final = ("rules", "reader", "both")
_BINS: Final = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.001)
_TIMED_TURNS: Final = 60
_TIMES: Final = 7
_LOADED: Final = (
    "import time; from ai_psychiatrist.services.reader.learned_reader import LearnedReader; "
    "began = time.perf_counter(); LearnedReader.load(); print(time.perf_counter() - began)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a voice makes of a record."""

    alarms: bool
    """Whether a person is told to look, now."""
    scores: Mapping[Item, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A record and what each voice makes of it."""

    record: Record
    by: Mapping[str, Outcome]
    passages: Mapping[int, Sequence[PassageReading]]
    """Turn, from 0 → what the network makes of its passages."""
    alarmed: AbstractSet[int]
    """The turns for which rules and network together alarm."""
    read_first: AbstractSet[int]
    """The turns that a reader is sent to first."""

    @property
    def status(self) -> str:
        """The first that its labels of danger have, as they are listed; empty for none."""
        found = {one["status"] for one in labels_of(self.record)}
        return next((one for one in STATUSES if one in found), "")

    @property
    def is_safe(self) -> bool:
        """Whether nobody has to look, for the speaker's sake or another's."""
        return not is_serious(self.record)


async def readings(records: Sequence[Record], reader: LearnedReader) -> list[Read]:
    """Assess each record by the rules, and by rules and reader, as the program does."""
    work_inline()
    found: dict[str, list[Outcome]] = {}
    first: list[AbstractSet[int]] = []
    alarmed: list[AbstractSet[int]] = []
    transcripts = [parse_transcript(transcript_of(record)) for record in records]
    for voice, enabled in (("rules", "false"), ("both", "true")):
        settings = load_settings({"READER_ENABLED": enabled, "LOG_LEVEL": "ERROR"}, None)
        async with bootstrap(settings, keeps_key=False) as services:
            for transcript in transcripts:
                assessment = await services.assessor.assess(
                    transcript, AssessmentOptions(parts=frozenset({Part.SCORES}))
                )
                items = assessment.quantitative
                assert items is not None
                outcome = Outcome(
                    alarms=any(map(is_to_be_read, assessment.risk.signals)),
                    scores={key: one.score for key, one in items.items.items()},
                )
                found.setdefault(voice, []).append(outcome)
                if voice == "both":
                    first.append({one.turn for one in assessment.risk.reader.read_first})
                    alarmed.append(
                        {one.turn for one in assessment.risk.signals if is_to_be_read(one)}
                    )
    passages = [_passages(transcript, reader) for transcript in transcripts]
    alone = [_alone(one) for one in passages]
    return [
        Read(
            record=record,
            by={"rules": rules, "reader": own, "both": both},
            passages=read,
            alarmed=turns,
            read_first=ranked,
        )
        for record, rules, own, both, read, turns, ranked in zip(
            records, found["rules"], alone, found["both"], passages, alarmed, first, strict=True
        )
    ]


def _passages(
    transcript: Transcript, reader: LearnedReader
) -> Mapping[int, Sequence[PassageReading]]:
    read: dict[int, list[PassageReading]] = {}
    for passage in passages_of(transcript):
        read.setdefault(passage.turn, []).append(reader.read(passage))
    return read


def _alone(passages: Mapping[int, Sequence[PassageReading]]) -> Outcome:
    """Return what the network would say by itself: 3 stands for any score from 1 on."""
    read = [one for of_turn in passages.values() for one in of_turn]

    def score(item: Item) -> int | None:
        present = max((one.present[item] for one in read), default=0.0)
        denied = max((one.denied[item] for one in read), default=0.0)
        if max(present, denied) < _ALONE_FROM:
            return None
        return 3 if present >= denied else 0

    return Outcome(
        alarms=any(one.danger >= _ALONE_FROM for one in read),
        scores={item: score(item) for item in Item},
    )


def danger_table(read: Sequence[Read]) -> Iterator[str]:
    """Yield how often each voice alarms, by what a statement was labelled."""
    yield f"| statements, alarm | {' | '.join(_VOICES)} |"
    yield "| --- | ---: | ---: | ---: |"
    yield _alarm_row("own danger now", [one for one in read if one.status == "affirmed"])
    asked = [one for one in read if one.status == "affirmed" and one.record["question"]]
    yield _alarm_row("… after a question", asked)
    for status in STATUSES[1:]:
        yield _alarm_row(status.replace("_", " "), [one for one in read if one.status == status])
    yield _alarm_row("look-alikes", [one for one in read if one.record.get("lookalike")])
    yield ""
    yield f"| own danger now, by kind | {' | '.join(_VOICES)} |"
    yield "| --- | ---: | ---: | ---: |"
    own = [one for one in read if one.status == "affirmed"]
    kinds = sorted({label["kind"] for one in own for label in labels_of(one.record)})
    for kind in kinds:
        of = [one for one in own if kind in {x["kind"] for x in labels_of(one.record)}]
        yield _alarm_row(kind.replace("_", " "), of)


def _alarm_row(name: str, of: Sequence[Read]) -> str:
    cells = [_alarming(of, voice) for voice in _VOICES]
    return f"| {name} | {' | '.join(map(str, cells))} |"


def _alarming(of: Sequence[Read], voice: str) -> Proportion:
    return share_of(of, lambda one: one.by[voice].alarms)


def safe_table(read: Sequence[Read]) -> Iterator[str]:
    """Yield how often each voice alarms for conversations in which nobody is in danger."""
    yield f"| safe conversations, alarm | {' | '.join(_VOICES)} |"
    yield "| --- | ---: | ---: | ---: |"
    for kind in sorted({_kind(one) for one in read}):
        yield _alarm_row(kind, [one for one in read if one.is_safe and _kind(one) == kind])
    own = [one for one in read if is_own_danger(labels_of(one.record))]
    yield _alarm_row("with own danger now, all kinds", own)


def _kind(read: Read) -> str:
    return str(read.record.get("kind", "interview"))


def items_table(sets: Mapping[str, Sequence[Read]]) -> Iterator[str]:
    """Yield how much of what each voice says of the items is right, and how much it finds."""
    yield "| items | voice | 1–3, right | zeros, right | of present, 1–3 | of denied, zero |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for name, read in sets.items():
        for voice in _VOICES:
            pairs = [
                (gold.status, one.by[voice].scores[item])
                for one in read
                for item, gold in gold_of(one.record).items()
            ]
            cells = (
                share_of([p for p in pairs if p[1]], lambda p: p[0] == PRESENT),
                share_of([p for p in pairs if p[1] == 0], lambda p: p[0] == DENIED),
                share_of([p for p in pairs if p[0] == PRESENT], lambda p: bool(p[1])),
                share_of([p for p in pairs if p[0] == DENIED], lambda p: p[1] == 0),
            )
            yield f"| {name} | {voice} | {' | '.join(map(str, cells))} |"


def read_first_table(sets: Mapping[str, Sequence[Read]]) -> Iterator[str]:
    """Yield what the passages to read first are worth, in conversations."""
    yield "| passages to read first | share |\n| --- | ---: |"
    talk = [one for read in sets.values() for one in read if "turns" in one.record]
    missed = [
        (one, label["turn"] - 1)
        for one in talk
        for label in labels_of(one.record)
        if "turn" in label
        and label["status"] == "affirmed"
        and label["turn"] - 1 not in one.alarmed
    ]
    hit = share_of(missed, lambda pair: pair[1] in pair[0].read_first)
    yield f"| turns with danger for which nothing alarms, among them | {hit} |"
    sent = share_of([one for one in talk if one.is_safe], lambda one: bool(one.read_first))
    yield f"| safe conversations whose reader is sent somewhere | {sent} |"


async def faithful(records: Sequence[Record], reader: LearnedReader) -> Proportion:
    """Return how many turns that present an item would carry a model's score for it."""
    kept = []
    for record in records:
        transcript = parse_transcript(transcript_of(record))
        reading = TranscriptReading.of(transcript, reader)
        index, rules = TranscriptIndex(transcript), AssertionClassifier(transcript)
        for key, label in record["items"].items():
            if label["status"] != PRESENT:
                continue
            turns = record["turns"]
            texts = label.get("quotes") or [turns[at - 1]["text"] for at in label["turns"]]
            found = [one for one in map(index.ground, texts) if isinstance(one, Quote)]
            quotes = rules.for_item(found, Item(key))
            is_unread = all(one.relevance is Relevance.UNREAD for one in quotes)
            segments = [part for one in quotes for part in one.segments]
            kept.append(not is_unread or await reading.shares_present(Item(key), segments))
    return share_of(kept, bool)


def calibration_table(statements: Sequence[Read]) -> Iterator[str]:
    """Yield how often the network is right that says so with a value."""
    yield "| danger by the network alone | statements with own danger now |\n| --- | ---: |"
    values = [
        (max(one.danger for of_turn in read.passages.values() for one in of_turn), read)
        for read in statements
        if is_own_danger(labels_of(read.record)) is not None
    ]
    for low, high in pairwise(_BINS):
        inside = [read for value, read in values if low <= value < high]
        share = share_of(inside, lambda read: bool(is_own_danger(labels_of(read.record))))
        yield f"| {low:.1f}–{min(high, 1):.1f} | {share} |"


def cost_table(reader: LearnedReader, talk: Sequence[Read]) -> Iterator[str]:
    """Yield what the reader costs on one core."""
    longest = max(talk, key=lambda one: len(one.record["turns"])).record["turns"]
    turns = [longest[at % len(longest)] for at in range(_TIMED_TURNS)]
    transcript = parse_transcript(transcript_of({"turns": turns}))
    passages = list(passages_of(transcript))
    times = []
    for _ in range(_TIMES):
        began = time.process_time()
        for passage in passages:
            reader.ngram_danger(passage)
            reader.read(passage)
        times.append(time.process_time() - began)
    command = [sys.executable, "-c", _LOADED]
    loads = [
        float(subprocess.run(command, capture_output=True, check=True).stdout)
        for _ in range(_TIMES)
    ]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield "| cost | |\n| --- | ---: |"
    yield f"| CPU of a transcript of {_TIMED_TURNS} turns, all read, ms | {1e3 * min(times):.0f} |"
    yield f"| passages of it | {len(passages)} |"
    yield f"| to load it, its packages included, s | {median(loads):.2f} |"
    yield f"| memory of this process at its most, MB | {memory:.0f} |"


def measured(reader: LearnedReader) -> Mapping[str, Sequence[Read]]:
    """Return all sets that nobody trained or tuned on, as each voice reads them."""
    new = new_records("measure")
    return _all_read(
        {
            _STATEMENTS: [one for one in new if one["kind"] == "danger"],
            "statements of items": [one for one in new if one["kind"] == "items"],
            _INTERVIEWS: [one for one in new if one["kind"] == "interview"],
            "other talk, new": [
                one for one in new if "turns" in one and one["kind"] != "interview"
            ],
            "other talk, set aside before": other_talk(set_aside=True),
        },
        reader,
    )


def sealed(folder: Path, reader: LearnedReader) -> Mapping[str, Sequence[Read]]:
    """Open the sealed sets, and return them as each voice reads them."""
    names = {_STATEMENTS: "danger", _INTERVIEWS: "interviews", "sessions": "sessions"}
    return _all_read({own: open_sealed(name, folder) for own, name in names.items()}, reader)


def _all_read(
    sets: Mapping[str, Sequence[Record]], reader: LearnedReader
) -> Mapping[str, Sequence[Read]]:
    return {name: asyncio.run(readings(of, reader)) for name, of in sets.items()}


def tables(sets: Mapping[str, Sequence[Read]], reader: LearnedReader) -> Iterator[str]:
    """Yield the lines of all tables of some sets."""
    talk = [
        one
        for name, read in sets.items()
        for one in read
        if "turns" in one.record and name != _INTERVIEWS
    ]
    yield from danger_table(sets[_STATEMENTS])
    yield ""
    yield from safe_table([*talk, *sets[_INTERVIEWS]])
    yield ""
    of_items = {name: read for name, read in sets.items() if name != _STATEMENTS}
    yield from items_table(of_items | {"all other talk": talk})
    yield ""
    yield from read_first_table(sets)
    yield ""
    yield from calibration_table(sets[_STATEMENTS])
    yield ""
    kept = asyncio.run(faithful([one.record for one in (*talk, *sets[_INTERVIEWS])], reader))
    yield "| a model's 1–3, with the turns that a person labelled as its quotes | keeps it |"
    yield f"| --- | ---: |\n| conversations of all kinds | {kept} |"
    yield ""
    yield from cost_table(reader, talk)


def card(lines: Sequence[str], listed: Mapping[str, object]) -> str:
    """Return the card of the shipped files. `listed`: what was written when they were trained."""
    trained = listed["trained_on"]
    assert isinstance(trained, dict)
    counts = "\n".join(f"| {name} | {count:,} |" for name, count in trained.items())
    return _CARD.format(command=listed["command"], counts=counts, tables="\n".join(lines))


_CARD: Final = (Path(__file__).parent / "card.md").read_text("utf-8")


def main() -> None:
    """Print the tables, and write them into the card."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the card of the files as well")
    parser.add_argument(
        "--open-sealed", type=Path, metavar="FOLDER", help="open sealed sets instead, once"
    )
    given = parser.parse_args()
    reader = LearnedReader.load()
    is_sealed = given.open_sealed is not None
    sets = sealed(given.open_sealed, reader) if is_sealed else measured(reader)
    lines = list(tables(sets, reader))
    print("\n".join(lines))
    if given.write and not is_sealed:
        listed = json.loads((SHIPPED / LISTING).read_text("utf-8"))
        (SHIPPED / "CARD.md").write_text(card(lines, listed), "utf-8")


if __name__ == "__main__":
    main()
