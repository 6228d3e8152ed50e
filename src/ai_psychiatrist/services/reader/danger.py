"""The second voice on danger: what of the rules' signs it shares, and what it finds with a third.

The third voice are n-grams. Two of three are needed for an alarm that no named danger carries.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.evidence import Segment
from ai_psychiatrist.domain.risk import (
    RiskCategory,
    RiskGroup,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskReport,
    RiskSignal,
    RiskSource,
    is_to_be_read,
    risk_report,
)
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.language.spoken import spoken
from ai_psychiatrist.services.reader.passages import Passage
from ai_psychiatrist.services.reader.reading import TranscriptReading
from ai_psychiatrist.services.risk.context import context_of
from ai_psychiatrist.services.risk.questions import questions_in
from ai_psychiatrist.services.risk.vocabulary import danger_words

SHARED_FROM: Final = 0.05
"""From here on the network shares a sign of the rules."""
FOUND_FROM: Final = 0.7
NGRAMS_FROM: Final = 0.4
"""From here on network and n-grams together make a sign of their own."""
SCREENED_FROM: Final = 0.15
"""Below it by n-grams, the network reads a passage only where the rules found something."""
READ_FIRST_FROM: Final = 0.3
MOST_READ_FIRST: Final = 3
_NEAR_TURNS: Final = 4
"""How far what is told of a danger reaches: "I had it out on the table" tells more of it."""


async def with_second_voice(
    report: RiskReport, transcript: Transcript, reading: TranscriptReading
) -> RiskReport:
    """Return the rules' report with what the reader shares of it and finds beside it.

    What names death, suicide, self-injury, a weapon or violence, or answers a question about one,
    stands whatever the reader says.
    """
    ngrams = await reading.ngram_dangers()
    marked = {signal.turn for signal in report.signals}
    wanted = [one for one, value in ngrams.items() if value >= SCREENED_FROM or one.turn in marked]
    readings = await reading.of_passages(wanted)
    if not reading.has_answered:
        return replace(report, reader=reading.state)
    read: defaultdict[int, list[tuple[Passage, float]]] = defaultdict(list)
    for passage, one in zip(wanted, readings, strict=True):
        read[passage.turn].append((passage, one.danger))
    standing = {
        (one.category, one.turn)
        for one in report.signals
        if _stands(one, transcript, read[one.turn])
    }
    weighed = [_weighed(signal, standing) for signal in report.signals]
    told: defaultdict[int, list[RiskSignal]] = defaultdict(list)
    for signal in weighed:
        told[signal.turn].append(signal)
    added = [
        _found(passage)
        for turn, passages in read.items()
        for passage, danger in passages
        if danger >= FOUND_FROM
        and ngrams[passage] >= NGRAMS_FROM
        and not any(_settles(signal, passage) for signal in told[turn])
    ]
    for signal in added:
        told[signal.turn].append(signal)
    in_order = sorted((*weighed, *added), key=lambda signal: signal.start)
    return replace(
        risk_report(in_order, report.examined),
        signal_count=report.signal_count + len(added),
        model=report.model,
        reader=replace(reading.state, read_first=_read_first(read, told)),
    )


def _weighed(signal: RiskSignal, standing: Collection[tuple[RiskCategory, int]]) -> RiskSignal:
    """Return a sign, as found by words alone where neither it stands nor one like it near to it."""
    near = (
        category is signal.category and abs(turn - signal.turn) <= _NEAR_TURNS
        for category, turn in standing
    )
    if not _is_open(signal) or any(near):
        return signal
    level = min(signal.level, RiskLevel.LOW, key=lambda level: level.rank)
    return replace(signal, is_shared=False, level=level)


def _stands(
    signal: RiskSignal, transcript: Transcript, read: Iterable[tuple[Passage, float]]
) -> bool:
    """Whether the network shares a sign that is to be read now, or a danger is named in it."""
    if not _is_open(signal):
        return False
    near = [danger for passage, danger in read if passage.touches(signal.start, signal.end)]
    return not near or max(near) >= SHARED_FROM or _is_named(signal, transcript)


def _is_open(signal: RiskSignal) -> bool:
    """Whether a sign is one of the rules that the reader has a say on."""
    return signal.group is RiskGroup.READ_NOW and signal.source is RiskSource.RULES


def _is_named(signal: RiskSignal, transcript: Transcript) -> bool:
    """Whether the speaker names a danger, or was asked about one."""
    said = spoken(transcript.text[signal.start : signal.end]).texts
    if not danger_words("named").isdisjoint(said):
        return True
    question = context_of(transcript, signal).question
    return bool(question) and any(not one.is_open for one in questions_in(question or ""))


def _settles(signal: RiskSignal, passage: Passage) -> bool:
    """Whether a sign alarms for a passage already, or reads all of it as a denial."""
    if signal.polarity is RiskPolarity.DENIED:
        return signal.start <= passage.start and passage.end <= signal.end
    return _alarms(signal, passage)


def _alarms(signal: RiskSignal, passage: Passage) -> bool:
    return is_to_be_read(signal) and passage.touches(signal.start, signal.end)


def _found(passage: Passage) -> RiskSignal:
    return RiskSignal(
        kind=RiskKind.UNSPECIFIED,
        polarity=RiskPolarity.UNCLEAR,
        level=RiskLevel.MODERATE,
        turn=passage.turn,
        start=passage.start,
        end=passage.end,
        source=RiskSource.READER,
    )


def _read_first(
    read: Mapping[int, Iterable[tuple[Passage, float]]], told: Mapping[int, Iterable[RiskSignal]]
) -> tuple[Segment, ...]:
    """Return the passages that rank highest among those for which nothing alarms."""
    high = [
        (danger, passage)
        for turn, passages in read.items()
        for passage, danger in passages
        if danger >= READ_FIRST_FROM and not any(_alarms(one, passage) for one in told[turn])
    ]
    ranked = sorted(high, key=lambda pair: (-pair[0], pair[1].start))[:MOST_READ_FIRST]
    return tuple(Segment(turn=one.turn, start=one.start, end=one.end) for _, one in ranked)
