"""The scoring task: a score per item from its quotes and their place, or "N/A"."""

from collections.abc import Iterable, Mapping
from typing import Final

from ai_psychiatrist.agents.baseline.signals import HOW_OFTEN, Analysis, Signal, signal_at
from ai_psychiatrist.agents.baseline.stretch import Stretch, whole
from ai_psychiatrist.domain.evidence import Frequency, Timeframe, UnverifiedQuote
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.domain.transcript import Speaker, Turn
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    LONGEST_QUOTE,
    TranscriptIndex,
)

_MOST_QUOTES: Final = 50
_SCORES: Final = {frequency: score for score, frequency in enumerate(HOW_OFTEN, start=1)}
_NOWHERE: Final = Turn(index=0, speaker=Speaker.PARTICIPANT, start=0, words_start=0, end=0)


def scored_items(analysis: Analysis, evidence: Mapping[str, object]) -> dict[str, object]:
    """Return the proposed score of each item. `evidence`: item key → quotes."""
    return {
        item.value: _proposed(
            {
                quote: _read(analysis, item, quote)
                for quote in _readable(evidence.get(item))[:_MOST_QUOTES]
            }
        )
        for item in Item
    }


def _readable(quotes: object) -> list[str]:
    """Return the quotes that are text, and no longer than a quote is, each once."""
    given = quotes if isinstance(quotes, list) else []
    texts = (quote for quote in given if isinstance(quote, str) and quote.strip())
    return [*dict.fromkeys(text for text in texts if len(text) <= LONGEST_QUOTE)]


def _read(analysis: Analysis, item: Item, quote: str) -> Signal:
    """Return the signal that the quote is, or one read from its place among the turns."""
    for signal in analysis.of_item(item):
        if signal.quote.text == quote:
            return signal
    turn, span = _place(analysis.index, quote)
    return signal_at(span, turn, item, span.polarity)


def _place(index: TranscriptIndex, quote: str) -> tuple[Turn, Stretch]:
    """Return where the participant says a quote: letter by letter, or in the same words."""
    transcript = index.transcript
    for turn in transcript.participant_turns():
        start = transcript.text.find(quote, turn.words_start, turn.end) - turn.words_start
        if start >= 0:
            return turn, Stretch(transcript.words(turn), start, start + len(quote))
    found = index.ground(quote)
    if isinstance(found, UnverifiedQuote):
        return _NOWHERE, whole(quote)
    segment = found.segments[0]
    turn = transcript.turns[segment.turn]
    start, end = segment.start - turn.words_start, segment.end - turn.words_start
    return turn, Stretch(transcript.words(turn), start, end)


def _proposed(reads: Mapping[str, Signal]) -> dict[str, object]:
    if not reads:
        return _proposal("N/A", 1, "No evidence was given for this item.")
    affirmed = {text: read for text, read in reads.items() if read.quote.supports_symptom}
    denied = {text: read for text, read in reads.items() if read.quote.denies_symptom}
    if affirmed:
        return _symptom(affirmed, is_contradicted=bool(denied))
    if denied:
        is_in_own_words = any(not read.is_answer for read in denied.values())
        reason = "The participant denies this or says that it is well."
        return _proposal(0, 4 if is_in_own_words else 3, reason, denied)
    past = [text for text, read in reads.items() if read.quote.timeframe is Timeframe.PAST]
    if past:
        return _proposal("N/A", 2, "The participant speaks of the past only.", past)
    return _proposal("N/A", 1, "The words do not settle whether the symptom is there.")


def _symptom(affirmed: Mapping[str, Signal], *, is_contradicted: bool) -> dict[str, object]:
    stated = [score for read in affirmed.values() if (score := _stated_score(read))]
    score = max(stated, default=1)
    reason = (
        f"The participant affirms this and says how often: {[*HOW_OFTEN.values()][score - 1]}."
        if stated
        else "The participant affirms this and does not say how often; the lowest score is given."
    )
    if is_contradicted:
        reason += " Other words deny it."
    return _proposal(score, (4 if stated else 2) - is_contradicted, reason, affirmed)


def _stated_score(signal: Signal) -> int | None:
    if signal.is_intense and signal.quote.frequency is Frequency.UNSTATED:
        return MAX_ITEM_SCORE
    return _SCORES.get(signal.quote.frequency)


def _proposal(
    score: int | str, confidence: int, reason: str, quotes: Iterable[str] = ()
) -> dict[str, object]:
    return {
        "evidence": list(quotes),
        "reason": reason,
        "score": score,
        "confidence": confidence,
    }
