"""The scoring task: a score per item from its quotes and their place, or "N/A"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.agents.baseline.replies import json_object, json_text
from ai_psychiatrist.agents.baseline.signals import Analysis, Signal, signal_at
from ai_psychiatrist.domain.evidence import Frequency, Timeframe
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Turn
from ai_psychiatrist.services.cues.clauses import Clause
from ai_psychiatrist.services.cues.polarity import polarity_of

_SCORES: Final = {
    Frequency.NOT_AT_ALL: 0,
    Frequency.SEVERAL_DAYS: 1,
    Frequency.MORE_THAN_HALF: 2,
    Frequency.NEARLY_EVERY_DAY: 3,
}
_NOT_AVAILABLE: Final = "N/A"
_MOST_QUOTES: Final = 50
_LONGEST_SEARCHED: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proposal:
    """A score for one item; quotes are those that it rests on."""

    score: int | None
    reason: str
    confidence: int
    quotes: tuple[str, ...] = ()

    def fields(self) -> dict[str, object]:
        """Return the fields of the reply."""
        score: object = _NOT_AVAILABLE if self.score is None else self.score
        return {
            "evidence": list(self.quotes),
            "reason": self.reason,
            "score": score,
            "confidence": self.confidence,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A quote and what its place in the transcript says."""

    quote: str
    signal: Signal


def score_items(analysis: Analysis, evidence: str) -> str:
    """Reply with a score per item. `evidence`: JSON of item key → quotes."""
    given = json_object(evidence)
    proposals = {
        item.value: _proposed(_reads(analysis, item, given.get(item.value))).fields()
        for item in Item
    }
    return f"<answer>\n{json_text(proposals)}\n</answer>"


def _reads(analysis: Analysis, item: Item, quotes: object) -> list[_Read]:
    if not isinstance(quotes, list):
        return []
    texts = dict.fromkeys(quote for quote in quotes if isinstance(quote, str) and quote.strip())
    return [
        _Read(quote=text, signal=_read(analysis, item, text)) for text in [*texts][:_MOST_QUOTES]
    ]


def _read(analysis: Analysis, item: Item, quote: str) -> Signal:
    """Return the signal that the quote is, or one read from its place among the turns."""
    for signal in analysis.of_item(item):
        if analysis.quote(signal) == quote:
            return signal
    for turn, found in _places(analysis, quote):
        return _signal(analysis.transcript.words(turn), found, item, turn)
    nowhere = Turn(index=0, speaker=Speaker.PARTICIPANT, start=0, words_start=0, end=len(quote))
    return _signal(quote, Clause(start=0, end=len(quote)), item, nowhere)


def _places(analysis: Analysis, quote: str) -> Iterator[tuple[Turn, Clause]]:
    """Yield where the participant says a quote: letter by letter, else but for case and spaces."""
    transcript = analysis.transcript
    for turn in transcript.participant_turns():
        start = transcript.text.find(quote, turn.words_start, turn.end) - turn.words_start
        if start >= 0:
            yield turn, Clause(start=start, end=start + len(quote))
    if len(quote) > _LONGEST_SEARCHED:
        return
    pattern = re.compile(r"\s+".join(map(re.escape, quote.split())), re.IGNORECASE)
    for turn in transcript.participant_turns():
        found = pattern.search(transcript.words(turn))
        if found is not None:
            yield turn, Clause(start=found.start(), end=found.end())


def _signal(words: str, span: Clause, item: Item, turn: Turn) -> Signal:
    polarity = polarity_of(words, span.start, span.end)
    return signal_at(words, span, item=item, turn=turn, polarity=polarity)


def _proposed(reads: list[_Read]) -> _Proposal:
    if not reads:
        return _Proposal(score=None, reason="No evidence was given for this item.", confidence=1)
    affirmed = [read for read in reads if read.signal.is_current_symptom]
    denied = [read for read in reads if read.signal.is_denial]
    if affirmed:
        return _symptom(affirmed, is_contradicted=bool(denied))
    if denied:
        return _Proposal(
            score=0,
            reason="The participant denies this or says that it is well.",
            confidence=4 if any(not read.signal.is_answer for read in denied) else 3,
            quotes=tuple(read.quote for read in denied),
        )
    past = [read for read in reads if read.signal.timeframe is Timeframe.PAST]
    if past:
        return _Proposal(
            score=None,
            reason="The participant speaks of the past only.",
            confidence=2,
            quotes=tuple(read.quote for read in past),
        )
    return _Proposal(
        score=None, reason="The words do not settle whether the symptom is there.", confidence=1
    )


def _symptom(affirmed: list[_Read], *, is_contradicted: bool) -> _Proposal:
    stated = [score for read in affirmed if (score := _stated_score(read.signal)) is not None]
    score = max(stated, default=1)
    reason = (
        f"The participant affirms this and says how often: {_HOW_OFTEN[score]}."
        if stated
        else "The participant affirms this and does not say how often; the lowest score is given."
    )
    if is_contradicted:
        reason += " Other words deny it."
    return _Proposal(
        score=score,
        reason=reason,
        confidence=(4 if stated else 2) - is_contradicted,
        quotes=tuple(read.quote for read in affirmed),
    )


_HOW_OFTEN: Final = {1: "several days", 2: "more than half the days", 3: "nearly every day"}


def _stated_score(signal: Signal) -> int | None:
    if signal.is_intense and signal.frequency is Frequency.UNSTATED:
        return 3
    score = _SCORES.get(signal.frequency)
    return score or None
