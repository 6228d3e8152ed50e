"""The second voice on danger: what of the rules' signs it shares, and what it finds with a third.

The third voice are n-grams. Two of three are needed for an alarm that no named danger carries.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from ai_psychiatrist.domain.risk import (
    PassageToRead,
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
from ai_psychiatrist.services.risk.context import in_context
from ai_psychiatrist.services.risk.questions import questions_in
from ai_psychiatrist.services.risk.statement import danger_words

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
    alarming = [one for one in weighed if is_to_be_read(one)]
    alarms = _Stretches(alarming)
    denials = _Stretches(one for one in weighed if one.polarity is RiskPolarity.DENIED)
    added = [
        _found(passage)
        for passages in read.values()
        for passage, danger in passages
        if danger >= FOUND_FROM
        and ngrams[passage] >= NGRAMS_FROM
        and not alarms.touch(passage)
        and not denials.hold(passage)
    ]
    first = _read_first(read, _Stretches((*alarming, *added)))
    in_order = sorted((*weighed, *added), key=lambda signal: signal.start)
    return replace(
        risk_report(in_order, report.examined),
        signal_count=report.signal_count + len(added),
        model=report.model,
        reader=replace(reading.state, read_first=first),
    )


class _Stretches:
    """The stretches of signals, whatever lies in which of them."""

    def __init__(self, signals: Iterable[RiskSignal]) -> None:
        spans = sorted((one.start, one.end) for one in signals)
        self._starts = [start for start, _ in spans]
        self._furthest = list(accumulate((end for _, end in spans), max))
        """For each the last character that it, or one that begins before it, reaches."""

    def touch(self, passage: Passage) -> bool:
        """Return whether one shares a character with a passage."""
        before = bisect_left(self._starts, passage.end)
        return before > 0 and self._furthest[before - 1] > passage.start

    def hold(self, passage: Passage) -> bool:
        """Return whether one holds all of a passage."""
        before = bisect_right(self._starts, passage.start)
        return before > 0 and self._furthest[before - 1] >= passage.end


def _weighed(signal: RiskSignal, standing: Collection[tuple[RiskCategory, int]]) -> RiskSignal:
    """Return a sign, as found by words alone where neither it stands nor one like it near to it."""
    turns = range(signal.turn - _NEAR_TURNS, signal.turn + _NEAR_TURNS + 1)
    if not _is_open(signal) or any((signal.category, turn) in standing for turn in turns):
        return signal
    level = min(signal.level, RiskLevel.LOW, key=lambda level: level.rank)
    return replace(signal, is_shared=False, level=level)


def _stands(
    signal: RiskSignal, transcript: Transcript, read: Sequence[tuple[Passage, float]]
) -> bool:
    """Whether the network shares a sign that is to be read now, or a danger is named in it.

    `read`: the passages of its turn in order, of which each ends after the one before.
    """
    if not _is_open(signal):
        return False
    first = bisect_right(read, signal.start, key=lambda one: one[0].end)
    last = bisect_left(read, signal.end, key=lambda one: one[0].start)
    near = [danger for _, danger in read[first:last]]
    return not near or max(near) >= SHARED_FROM or _is_named(signal, transcript)


def _is_open(signal: RiskSignal) -> bool:
    """Whether a sign is one of the rules that the reader has a say on."""
    return signal.group is RiskGroup.READ_NOW and signal.source is RiskSource.RULES


def _is_named(signal: RiskSignal, transcript: Transcript) -> bool:
    """Whether the speaker names a danger, or was asked about one."""
    said = spoken(transcript.text[signal.start : signal.end]).texts
    if not danger_words("named").isdisjoint(said):
        return True
    question = in_context(transcript, signal).question
    return bool(question) and any(not one.is_open for one in questions_in(question or ""))


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
    read: Mapping[int, Iterable[tuple[Passage, float]]], alarms: _Stretches
) -> tuple[PassageToRead, ...]:
    """Return the passages that rank highest among those for which nothing alarms."""
    high = [
        (danger, passage)
        for passages in read.values()
        for passage, danger in passages
        if danger >= READ_FIRST_FROM and not alarms.touch(passage)
    ]
    ranked = sorted(high, key=lambda pair: (-pair[0], pair[1].start))[:MOST_READ_FIRST]
    return tuple(PassageToRead(turn=one.turn, start=one.start, end=one.end) for _, one in ranked)
