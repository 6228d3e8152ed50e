"""How often danger raises an alarm: where it is one's own and now, and where it is not."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from benchmarks.meaning.agreement import NOTHING, Proportion, kappa_row, share_of
from benchmarks.meaning.sets import Record, transcript_of

AFFIRMED: Final = "affirmed"
LOOKALIKE: Final = "look-alike"
STATUSES: Final = (AFFIRMED, "hypothetical_or_unclear", "past", "other_person", "denied")
"""The first that a label has is the statement's."""
_OWN: Final = frozenset(STATUSES[:2])
"""With one of these an alarm is right."""
_LEVELS: Final = ("low", "moderate", "high")
_NO_KIND: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A statement or a conversation: its labels and what is found in it."""

    status: str
    level: str | None
    """The highest level of the labels with that status; `None` where it was left open."""
    kinds: frozenset[str]
    """The kinds of those labels, or what a look-alike looks like."""
    second: tuple[str, str] | None
    """Status and kind by a second person, of statements."""
    found: RiskLevel
    alarms: frozenset[str]
    """The kinds of the signals that alarm."""
    source: str
    """What sort of conversation it is, if one is named."""

    @property
    def is_own(self) -> bool:
        """Whether it speaks of the speaker's own danger, now."""
        return self.status == AFFIRMED

    @property
    def is_alarm(self) -> bool:
        """Whether a signal is at least moderate."""
        return self.found.rank >= RiskLevel.MODERATE.rank

    @property
    def is_marked(self) -> bool:
        """Whether there is any signal."""
        return self.found is not RiskLevel.NONE


def readings(records: Iterable[Record]) -> list[Reading]:
    """Look for danger in each record."""
    return [_reading(record) for record in records]


def _reading(record: Record) -> Reading:
    labels = labels_of(record)
    statuses = {label["status"] for label in labels}
    status = next((one for one in STATUSES if one in statuses), LOOKALIKE)
    own = [label for label in labels if label["status"] == status]
    kinds = {label.get("kind", _NO_KIND) for label in own} or {record.get("lookalike") or _NO_KIND}
    second = record.get("second", {})
    report = detect_risk(parse_transcript(transcript_of(record)))
    return Reading(
        status=status,
        level=max(
            (label["level"] for label in own if label["level"]), key=_LEVELS.index, default=None
        ),
        kinds=frozenset(kinds),
        second=(second["status"] or LOOKALIKE, second["kind"] or _NO_KIND)
        if "status" in second
        else None,
        found=report.level,
        alarms=frozenset(
            signal.kind.value
            for signal in report.signals
            if signal.level.rank >= RiskLevel.MODERATE.rank
        ),
        source=record.get("kind") or "interview" if "turns" in record else "",
    )


def labels_of(record: Record) -> Sequence[Record]:
    """Return the labels of danger of a statement or a conversation of any set."""
    if "turns" in record or "danger" in record:
        return record.get("danger") or ()
    if "status" in record:
        return (record,) if record["status"] else ()
    return [one for one in record["labels"] if "item" not in one]


def agreed(read: Iterable[Reading]) -> list[Reading]:
    """Keep the statements of which two people say the same status and kind."""
    return [one for one in read if one.second == _first(one)]


def _first(one: Reading) -> tuple[str, str]:
    """Return status and kind of a statement that has one label at most."""
    return one.status, _NO_KIND if one.status == LOOKALIKE else min(one.kinds)


def agreement_rows(read: Sequence[Reading]) -> Iterator[str]:
    """Yield lines on how far first and second labels agree."""
    both = [(_first(one), one.second) for one in read if one.second is not None]
    yield kappa_row(
        "danger: own and now, or not",
        [(one[0] == AFFIRMED, other[0] == AFFIRMED) for one, other in both],
    )
    yield kappa_row("danger: kind, or none", [(one[1], other[1]) for one, other in both])


def statement_tables(read: Sequence[Reading]) -> Iterator[str]:
    """Yield the lines of the tables of statements."""
    yield "| statements | alarm: moderate or high | any signal |\n| --- | ---: | ---: |"
    for level in reversed(_LEVELS):
        own = [one for one in read if one.is_own and one.level == level]
        yield _row(f"affirmed, labelled {level}", own)
    yield _row("affirmed, all", [one for one in read if one.is_own])
    for status in (*STATUSES[1:], LOOKALIKE):
        yield _row(status, [one for one in read if one.status == status])
    others = [one for one in read if one.status == "other_person" and one.level in _LEVELS[1:]]
    yield _row("… other_person, labelled moderate or high", others)
    yield ""
    yield from _kind_table(read)
    yield ""
    yield from precision_table([(one, one.status in _OWN) for one in read])


def _row(name: str, of: Sequence[Reading]) -> str:
    alarms, marks = share_of(of, lambda one: one.is_alarm), share_of(of, lambda one: one.is_marked)
    return f"| {name} | {alarms} | {marks} |"


def _kind_table(read: Sequence[Reading]) -> Iterator[str]:
    """Yield a line per kind, and their mean, in which every kind weighs the same."""
    columns: dict[str, tuple[Callable[[Reading], bool], Callable[[Reading], bool]]] = {
        "affirmed, alarm": (lambda one: one.is_own, lambda one: one.is_alarm),
        "affirmed, any signal": (lambda one: one.is_own, lambda one: one.is_marked),
        "past, denied or another's, alarm": (
            lambda one: one.status in {"past", "denied", "other_person"},
            lambda one: one.is_alarm,
        ),
        "look-alike, alarm": (lambda one: one.status == LOOKALIKE, lambda one: one.is_alarm),
    }
    yield f"| kind | {' | '.join(columns)} |"
    yield f"| --- |{' ---: |' * len(columns)}"
    shares: dict[str, list[Proportion]] = {
        kind: [
            share_of([one for one in read if kind in one.kinds and belongs(one)], holds)
            for belongs, holds in columns.values()
        ]
        for kind in sorted({kind for one in read for kind in one.kinds} - {_NO_KIND})
    }
    for kind, cells in shares.items():
        yield f"| {kind} | {' | '.join(map(str, cells))} |"
    yield f"| balanced over kinds | {' | '.join(map(_mean, zip(*shares.values(), strict=True)))} |"


def precision_table(read: Sequence[tuple[Reading, bool]]) -> Iterator[str]:
    """Yield for each kind which share of its alarms is right; `read`: with whether one would be."""
    yield "| kind of the alarm | right |\n| --- | ---: |"
    for kind in sorted({kind for one, _ in read for kind in one.alarms}):
        alarmed = [pair for pair in read if kind in pair[0].alarms]
        yield f"| {kind} | {share_of(alarmed, lambda pair: pair[1])} |"
    alarmed = [pair for pair in read if pair[0].alarms]
    yield f"| any | {share_of(alarmed, lambda pair: pair[1])} |"


def _mean(shares: Sequence[Proportion]) -> str:
    values = [share.value for share in shares if share.value is not None]
    return f"{fmean(values):.3f} over {len(values)} kinds" if values else NOTHING


def conversation_table(read: Sequence[Reading]) -> Iterator[str]:
    """Yield the lines of the table of whole conversations."""
    yield "| conversations | alarm: moderate or high | any signal |\n| --- | ---: | ---: |"
    for source in sorted({one.source for one in read}):
        for is_own, name in ((True, "with own danger now"), (False, "with none")):
            of = [one for one in read if one.source == source and one.is_own is is_own]
            if of:
                yield _row(f"{source}, {name}", of)
