"""The scoring task: a score per item from its quotes and their place, or "N/A"."""

from collections.abc import Iterable, Mapping
from typing import Final

from ai_psychiatrist.agents.baseline.signals import HOW_OFTEN, Analysis, Signal
from ai_psychiatrist.agents.output_models import NOT_EXAMINED
from ai_psychiatrist.domain.evidence import Frequency, Polarity, Segment, Timeframe, UnverifiedQuote
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.evidence_validation.transcript_index import LONGEST_QUOTE
from ai_psychiatrist.services.language.mentions import Footing

_MOST_QUOTES: Final = 50
_SCORES: Final = {frequency: score for score, frequency in enumerate(HOW_OFTEN, start=1)}

_Reads = Mapping[str, Signal]


def scored_items(analysis: Analysis, evidence: Mapping[str, object]) -> dict[str, object]:
    """Return the proposed score of each item. `evidence`: item key → quotes."""
    return {item.value: _proposed(_readable(evidence.get(item)), analysis, item) for item in Item}


def _readable(quotes: object) -> list[str]:
    """Return the quotes that are text, and no longer than a quote is, each once."""
    given = quotes if isinstance(quotes, list) else []
    texts = (quote for quote in given if isinstance(quote, str) and quote.strip())
    return [*dict.fromkeys(text for text in texts if len(text) <= LONGEST_QUOTE)][:_MOST_QUOTES]


def _read(analysis: Analysis, item: Item, quote: str) -> Signal | None:
    """Return what a quote says of an item, `None` where that cannot be read."""
    own = sorted(analysis.of_item(item), key=lambda one: one.quote.polarity is Polarity.UNCLEAR)
    for signal in own:
        if signal.quote.text == quote:
            return signal
    found = analysis.index.ground(quote)
    if isinstance(found, UnverifiedQuote):
        return None
    return next((one for one in own if _touches(one.quote.segments[0], found.segments[0])), None)


def _touches(one: Segment, other: Segment) -> bool:
    return one.turn == other.turn and one.start < other.end and other.start < one.end


def _proposed(quotes: list[str], analysis: Analysis, item: Item) -> dict[str, object]:
    reads = {text: read for text in quotes if (read := _read(analysis, item, text)) is not None}
    affirmed: _Reads = {text: read for text, read in reads.items() if read.quote.supports_symptom}
    denied: _Reads = {text: read for text, read in reads.items() if read.quote.denies_symptom}
    affirmed, denied = _borne(affirmed, analysis), _borne(denied, analysis)
    if affirmed and denied:
        affirmed, denied = _weightier(affirmed, denied)
        if affirmed and denied:
            return _proposal("N/A", 2, "The participant both affirms and denies this.", reads)
    if affirmed:
        return _symptom(affirmed)
    if denied:
        is_in_own_words = any(not read.is_answer for read in denied.values())
        reason = "The participant denies this or says that it is well."
        return _proposal(0, 4 if is_in_own_words else 3, reason, denied)
    past = [text for text, read in reads.items() if read.quote.timeframe is Timeframe.PAST]
    if past:
        return _proposal("N/A", 2, "The participant speaks of the past only.", past)
    if item in analysis.unread_items:
        return _proposal("N/A", 1, NOT_EXAMINED)
    unsettled = "The words do not settle whether the symptom is there."
    return _proposal("N/A", 1, unsettled if quotes else "No evidence was given for this item.")


def _borne(reads: _Reads, analysis: Analysis) -> _Reads:
    """Leave out one reading alone whose words may mean something else where they stand."""
    footings = {read.footing for read in reads.values()}
    if analysis.is_other_talk:
        return reads if footings & {Footing.ASKED, Footing.NAMED} else {}
    is_unsure = len(reads) == 1 and footings == {Footing.ASIDE}
    return {} if is_unsure else reads


def _weightier(affirmed: _Reads, denied: _Reads) -> tuple[_Reads, _Reads]:
    """Leave out the side that is only inferred, when the other is stated."""
    states = [any(read.is_stated for read in side.values()) for side in (affirmed, denied)]
    if states == [True, False] or any(map(_is_dated, affirmed.values())):
        return affirmed, {}
    return ({}, denied) if states == [False, True] else (affirmed, denied)


def _is_dated(read: Signal) -> bool:
    """Whether a reading says when or how often: it is about these weeks, and not in general."""
    quote = read.quote
    return quote.timeframe is Timeframe.RECENT or quote.frequency is not Frequency.UNSTATED


def _symptom(affirmed: _Reads) -> dict[str, object]:
    stated = [score for read in affirmed.values() if (score := _SCORES.get(read.quote.frequency))]
    score = max(stated, default=1)
    reason = (
        f"The participant affirms this and says how often: {[*HOW_OFTEN.values()][score - 1]}."
        if stated
        else "The participant affirms this and does not say how often; the lowest score is given."
    )
    return _proposal(score, 4 if stated else 2, reason, affirmed)


def _proposal(
    score: int | str, confidence: int, reason: str, quotes: Iterable[str] = ()
) -> dict[str, object]:
    return {
        "evidence": list(quotes),
        "reason": reason,
        "score": score,
        "confidence": confidence,
    }
