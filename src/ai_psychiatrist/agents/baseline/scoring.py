"""The scoring and meta-review tasks: a score per item from its quotes, a severity from those."""

from collections.abc import Iterable, Mapping
from typing import Final

from ai_psychiatrist.agents.baseline.signals import HOW_OFTEN, Analysis, Signal
from ai_psychiatrist.agents.output_models import NOT_EXAMINED, NOT_READ, NOT_SHARED, UNSETTLED
from ai_psychiatrist.domain.evidence import Frequency, Polarity, Segment, Timeframe, UnverifiedQuote
from ai_psychiatrist.domain.phq8 import (
    MAX_ITEM_SCORE,
    Item,
    Severity,
    TotalScore,
    severity_of,
    total_of,
)
from ai_psychiatrist.services.evidence_validation.transcript_index import LONGEST_QUOTE
from ai_psychiatrist.services.language.mentions import TopicAnchor

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
    if affirmed and denied:
        affirmed, denied = _weightier(affirmed, denied)
        if affirmed and denied:
            return _proposal("N/A", None, UNSETTLED, reads)
    told = affirmed or denied
    if told and not any(read.is_shared for read in told.values()):
        return _proposal("N/A", None, NOT_SHARED, told)
    if affirmed:
        return _symptom(affirmed, _confidence(affirmed, analysis.of_item(item)))
    if denied:
        reason = "The participant denies this or says that it is well."
        return _proposal(0, _confidence(denied, analysis.of_item(item)), reason, denied)
    past = [text for text, read in reads.items() if read.quote.timeframe is Timeframe.PAST]
    if past:
        return _proposal("N/A", None, "The participant speaks of the past only.", past)
    return _proposal("N/A", None, _why_none(analysis, item, has_quotes=bool(quotes)))


def _why_none(analysis: Analysis, item: Item, *, has_quotes: bool) -> str:
    """Return why an item has no score, where nothing was read of it."""
    if not analysis.is_read:
        return NOT_READ
    if item in analysis.unread_items:
        return NOT_EXAMINED
    return UNSETTLED if has_quotes else "Nothing was found by the rules."


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


def _symptom(affirmed: _Reads, confidence: int) -> dict[str, object]:
    stated = [score for read in affirmed.values() if (score := _SCORES.get(read.quote.frequency))]
    score = max(stated, default=1)
    reason = (
        f"The participant affirms this and says how often: {[*HOW_OFTEN.values()][score - 1]}."
        if stated
        else "The participant affirms this and does not say how often; the lowest score is given."
    )
    return _proposal(score, confidence, reason, affirmed)


def _confidence(reads: _Reads, own: Iterable[Signal]) -> int:
    """Return 2 to 4 by what made scores right more often in labelled conversations.

    A symptom whose frequency is stated, or that comes up in several turns; a denial that was asked
    for. Less where words of the item say the opposite, or that it is past, or how often it is
    denied. `own`: all signals of the item.
    """
    quotes = [read.quote for read in reads.values()]
    is_symptom = quotes[0].supports_symptom
    has_frequency = any(quote.frequency in _SCORES for quote in quotes)
    is_doubted = any(
        one.quote.timeframe is Timeframe.PAST
        if one.quote.polarity is quotes[0].polarity
        else one.quote.polarity is not Polarity.UNCLEAR
        for one in own
    )
    if is_doubted or (has_frequency and not is_symptom):
        return 2
    if is_symptom:
        is_sure = has_frequency or len({quote.segments[0].turn for quote in quotes}) > 1
    else:
        is_sure = any(read.anchor is TopicAnchor.ASKED for read in reads.values())
    return 4 if is_sure else 3


def _proposal(
    score: int | str, confidence: int | None, reason: str, quotes: Iterable[str] = ()
) -> dict[str, object]:
    return {
        "evidence": list(quotes),
        "reason": reason,
        "score": score,
        "confidence": confidence,
    }


# The meta-review


def reviewed(scores: Mapping[str, object], analysis: Analysis) -> str:
    """Reply with a severity. `scores`: item key → {"score": 0-3 or null}."""
    values = [_score(scores.get(item)) for item in Item]
    known = [value for value in values if value is not None]
    total = total_of(values)
    if not analysis.is_read or _is_unread(known, analysis):
        # The reply has to hold a number; the reason says that it is none.
        reason = NOT_EXAMINED if analysis.is_read else NOT_READ
        return f"<severity>0</severity>\n<explanation>\n{reason}\n</explanation>"
    severity = _severity(known, total)
    return (
        f"<severity>{int(severity)}</severity>\n"
        "<explanation>\n"
        f"A rule baseline, not a language model, gives {severity.label}. "
        f"{_explanation(len(known), total)}\n"
        "</explanation>"
    )


def _is_unread(known: list[int], analysis: Analysis) -> bool:
    """Whether unknown items are in words that are not read, and nothing may be made of the rest."""
    is_lost = analysis.examined.is_mostly_unread or (not known and bool(analysis.unread_items))
    return is_lost and len(known) < len(Item)


def _score(item: object) -> int | None:
    value = item.get("score") if isinstance(item, dict) else item
    # A bool is an int, too.
    return value if type(value) is int and 0 <= value <= MAX_ITEM_SCORE else None


def _severity(known: list[int], total: TotalScore) -> Severity:
    if not known:
        return total.severity_lower_bound
    # Half is rounded up, in whole numbers so that no float decides a band.
    estimate = (2 * sum(known) * len(Item) + len(known)) // (2 * len(known))
    severity = severity_of(min(estimate, total.total_score_max))
    return Severity(min(max(severity, total.severity_lower_bound), total.severity_upper_bound))


def _explanation(known: int, total: TotalScore) -> str:
    if known == len(Item):
        return f"The eight item scores add up to {total.total_score_min}."
    if known == 0:
        return "No item has a score, so that nothing speaks for a higher severity."
    return (
        f"{known} of {len(Item)} items have a score; the total lies between "
        f"{total.total_score_min} and {total.total_score_max}, and unknown items are counted at "
        "the mean of the known ones."
    )
