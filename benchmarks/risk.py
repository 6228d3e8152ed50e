"""How well dangers are found: on labelled statements, and in public conversations."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.domain.risk import RiskLevel, RiskReport, RiskSignal
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from benchmarks.evidence import median_ms
from benchmarks.transcripts import synthetic_interview

LABELLED: Final = Path(__file__).with_name("labelled")
STATEMENTS: Final = LABELLED / "risk_statements.jsonl"
INTERVIEW_STATEMENTS: Final = LABELLED / "risk_interview.jsonl"
INTERVIEW_HELD_OUT: Final = LABELLED / "risk_interview_held_out.jsonl"
NO_DANGER: Final = "none"
_URGENT: Final = frozenset({RiskLevel.MODERATE.value, RiskLevel.HIGH.value})
_SIZES: Final = (10_000, 400_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A statement with what a reader found in it."""

    id: str
    question: str
    text: str
    category: str
    polarity: str
    level: str
    direct: bool | None

    @property
    def is_danger(self) -> bool:
        """Whether anything should be found."""
        return self.category != NO_DANGER

    @property
    def is_urgent(self) -> bool:
        """Whether a person should look soon; denials and other people's dangers are not."""
        return self.level in _URGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A labelled statement and what the detector found in it."""

    labelled: Labelled
    report: RiskReport

    @property
    def is_found(self) -> bool:
        """Whether there is any signal."""
        return bool(self.report.signals)

    @property
    def is_urgent(self) -> bool:
        """Whether a signal is at least moderate."""
        return self.report.level.rank >= RiskLevel.MODERATE.rank

    @property
    def strongest(self) -> RiskSignal:
        """The first signal of the highest level."""
        return max(self.report.signals, key=lambda signal: signal.level.rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A count out of a number."""

    name: str
    count: int
    of: int

    @property
    def value(self) -> float:
        """0–1; zero when there is nothing to count."""
        return self.count / self.of if self.of else 0.0

    def row(self) -> str:
        """Write a line of a Markdown table."""
        return f"| {self.name} | {self.count} | {self.of} | {self.value:.3f} |"


def labelled_statements(path: Path) -> tuple[Labelled, ...]:
    """Load a frozen set."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(_labelled(json.loads(line)) for line in lines if line.strip())


def _labelled(record: dict[str, str | bool | None]) -> Labelled:
    direct = record.get("direct")
    return Labelled(
        id=str(record["id"]),
        question=str(record["question"] or ""),
        text=str(record["text"]),
        category=str(record["category"]),
        polarity=str(record["polarity"]),
        # A denial was labelled low before it had a level of its own.
        level="none" if record["polarity"] == "denied" else str(record["level"]),
        direct=direct if isinstance(direct, bool) else None,
    )


def readings(path: Path = STATEMENTS) -> tuple[Reading, ...]:
    """Read each statement of a set as the answer to its question."""
    return tuple(
        Reading(labelled=one, report=detect_risk(parse_transcript(_interview(one))))
        for one in labelled_statements(path)
    )


def _interview(one: Labelled) -> str:
    return f"Interviewer: {one.question}\nParticipant: {one.text}"


def shares(read: Sequence[Reading]) -> Iterator[Share]:
    """Count what is found, how it is read, and what is found in look-alikes."""
    dangers = [one for one in read if one.labelled.is_danger]
    harmless = [one for one in read if not one.labelled.is_danger]
    found = [one for one in dangers if one.is_found]
    high = [one for one in dangers if one.labelled.level == RiskLevel.HIGH]
    yield _share("recall", dangers, lambda one: one.is_found)
    for category in sorted({one.labelled.category for one in dangers}):
        of_category = [one for one in dangers if one.labelled.category == category]
        yield _share(f"recall, {category}", of_category, lambda one: one.is_found)
    for is_direct, name in ((True, "direct"), (False, "indirect")):
        of_kind = [one for one in dangers if one.labelled.direct is is_direct]
        yield _share(f"recall, {name}", of_kind, lambda one: one.is_found)
    yield _share("recall, labelled high", high, lambda one: one.is_found)
    yield _share("labelled high, found as moderate or high", high, lambda one: one.is_urgent)
    yield _share(
        "category", found, lambda one: one.strongest.category.value == one.labelled.category
    )
    yield _share(
        "polarity", found, lambda one: one.strongest.polarity.value == one.labelled.polarity
    )
    yield _share("level", found, lambda one: one.report.level.value == one.labelled.level)
    yield _share("false alarms, any level", harmless, lambda one: one.is_found)
    yield _share("false alarms, moderate or high", harmless, lambda one: one.is_urgent)
    flagged = [one for one in read if one.is_found]
    yield _share("precision", flagged, lambda one: one.labelled.is_danger)


def alarm_shares(read: Sequence[Reading]) -> Iterator[Share]:
    """Count what stops an interview, where it should and where it should not."""
    urgent = [one for one in read if one.labelled.is_urgent]
    others = [one for one in read if not one.labelled.is_urgent]
    harmless = [one for one in others if not one.labelled.is_danger]
    yield _share("dangers found as moderate or high", urgent, lambda one: one.is_urgent)
    yield _share("look-alikes taken for moderate or high", others, lambda one: one.is_urgent)
    yield _share("… harmless ones, any level", harmless, lambda one: one.is_found)


def _share(name: str, of: Sequence[Reading], holds: Callable[[Reading], bool]) -> Share:
    return Share(name=name, count=sum(map(holds, of)), of=len(of))


def public_conversations() -> Iterator[Transcript]:
    """Yield the public clinical conversations, where they are at hand."""
    folder = os.environ.get("TEST_DATA_DIR")
    if folder is None:
        return
    path = Path(folder) / "transcripts" / "conversations.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        turns = json.loads(line)["turns"]
        with suppress(TranscriptUnreadable):  # in some only relatives speak
            yield parse_transcript("\n".join(map(_spoken, turns)))


def _spoken(turn: dict[str, str]) -> str:
    is_doctor = turn["speaker"].casefold() in {"doctor", "guest_clinician"}
    return f"{'Doctor' if is_doctor else 'Patient'}: {' '.join(turn['text'].split())}"


def conversation_rows(reports: Sequence[RiskReport]) -> Iterator[str]:
    """Count signals and flagged conversations by level."""
    signals = Counter(signal.level for report in reports for signal in report.signals)
    flagged = Counter(report.level for report in reports)
    for level in (RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH):
        rates = (100 * count / len(reports) for count in (signals[level], flagged[level]))
        yield f"| {level.value} | {' | '.join(f'{rate:.2f}' for rate in rates)} |"


def main() -> None:
    """Print the tables."""
    print("| labelled statements | count | of | share |\n| --- | ---: | ---: | ---: |")
    _print(share.row() for share in shares(readings()))
    for path, name in (
        (INTERVIEW_STATEMENTS, "answers to an interviewer"),
        (INTERVIEW_HELD_OUT, "answers to an interviewer, held out"),
    ):
        print(f"\n| {name} | count | of | share |\n| --- | ---: | ---: | ---: |")
        _print(share.row() for share in alarm_shares(readings(path)))
    reports = [detect_risk(transcript) for transcript in public_conversations()]
    if reports:
        print(f"\n| in {len(reports)} public conversations, per 100 | signals | flagged |")
        print("| --- | ---: | ---: |")
        _print(conversation_rows(reports))
    else:
        print("\nTEST_DATA_DIR is not set: the public conversations are skipped.")
    print("\n| interview | ms |\n| --- | ---: |")
    for size in _SIZES:
        transcript = parse_transcript(synthetic_interview(size))
        taken_ms = median_ms(lambda transcript=transcript: detect_risk(transcript))  # type: ignore[misc]
        print(f"| {size} characters | {taken_ms:.1f} |")


def _print(rows: Iterable[str]) -> None:
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
