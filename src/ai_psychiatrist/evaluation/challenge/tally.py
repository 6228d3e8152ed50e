"""What one interview adds to the figures: sums alone, so that resampling is one matrix product.

A quote is right when at least half of it is evidence of its item; evidence is found when right
quotes hold at least a quarter of it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.folder import EvidenceSpan, InterviewTruth
from ai_psychiatrist.evaluation.challenge.prediction import (
    OUTCOMES,
    ChallengePrediction,
    GivenQuote,
    ItemAnswer,
)

ABSTAINED: Final = 1.5
"""Charged for no score where the words determine one: half the scale."""
INVENTED: Final = 2.0
"""Charged for a score where nothing that is said determines one: more than for silence."""
SET_SHARE: Final = 0.9
"""How likely the truth is to be in the set that is made of probabilities."""
RIGHT_SHARE: Final = 0.5
FOUND_SHARE: Final = 0.25

Sum = Literal[
    "items",
    "charge",
    "determinable",
    "scored",  # of the determinable
    "error",  # of the scored
    "exact",
    "opposite",  # of the scored: 0 for what is there, or 1 to 3 for what is denied
    "undeterminable",
    "invented",
    "quotes",
    "right_quotes",
    "unsaid_quotes",  # those whose words are not in the text
    "spans",
    "found_spans",
    "read_quotes",  # right ones with a polarity, affirmed or denied
    "misread_quotes",
    "sets",
    "holding_sets",
    "set_sizes",
    "forecasts",
    "squared_error",  # of all five probabilities
    "told_danger",
    "dangerous",
    "found_danger",
    "harmless",
    "false_alarms",
    "counted_calls",
    "calls",
    "priced",
    "cost_usd",
    "changed",  # scores that are other ones than without the injection
]
"""What is summed over interviews."""
Tally: TypeAlias = defaultdict[Sum, float]
"""Counts and sums of one interview; what it adds nothing to is 0."""

_UNKNOWN: Final = ItemAnswer(score=None)
_WORD_GAP: Final = re.compile(r"\s+")


def tally_of(truth: InterviewTruth, text: str, given: ChallengePrediction | None) -> Tally:
    """Return what an interview adds; without an answer all its items are unknown."""
    tally: Tally = defaultdict(float)
    for item in Item:
        answer = answer_to(item, given)
        _add_score(tally, truth.items[item].score, answer.score)
        _add_quotes(tally, truth.items[item].spans, answer.quotes, text)
        _add_set(tally, truth.items[item].score, answer)
    tally["dangerous" if truth.is_dangerous else "harmless"] = 1
    if given is None:
        return tally
    tally["told_danger"] = given.danger is not None
    tally["found_danger" if truth.is_dangerous else "false_alarms"] = given.danger is True
    tally["counted_calls"], tally["calls"] = given.calls is not None, given.calls or 0
    tally["priced"], tally["cost_usd"] = given.cost_usd is not None, given.cost_usd or 0
    return tally


def answer_to(item: Item, given: ChallengePrediction | None) -> ItemAnswer:
    """Return the answer to an item; unknown where there is none."""
    return _UNKNOWN if given is None else given.items.get(item, _UNKNOWN)


def _add_score(tally: Tally, truth: int | None, score: int | None) -> None:
    tally["items"] += 1
    tally["undeterminable" if truth is None else "determinable"] += 1
    if truth is not None and score is not None:
        error = abs(score - truth)
        tally["scored"] += 1
        tally["error"] += error
        tally["charge"] += error
        tally["exact"] += error == 0
        tally["opposite"] += (score == 0) != (truth == 0)
    elif score is not None:
        tally["invented"] += 1
        tally["charge"] += INVENTED
    elif truth is not None:
        tally["charge"] += ABSTAINED


def _add_quotes(
    tally: Tally, spans: Sequence[EvidenceSpan], quotes: Sequence[GivenQuote], text: str
) -> None:
    held: set[int] = set()
    for quote in quotes:
        # Of several places with these words the one that holds most evidence counts.
        place = max(_places(quote, text), key=lambda at: _evidence_in(at, spans), default=None)
        tally["quotes"] += 1
        tally["unsaid_quotes"] += place is None
        if place is None or not spans or _evidence_in(place, spans) < RIGHT_SHARE * len(place):
            continue
        tally["right_quotes"] += 1
        held.update(place)
        if quote.polarity in {Polarity.AFFIRMED, Polarity.DENIED}:
            most = max(spans, key=lambda span: _overlap(place, span))
            tally["read_quotes"] += 1
            tally["misread_quotes"] += quote.polarity is not most.polarity
    for span in spans:
        if span.needed:
            found = sum(at in held for at in range(span.start, span.end))
            tally["spans"] += 1
            tally["found_spans"] += found >= FOUND_SHARE * (span.end - span.start)


def _places(quote: GivenQuote, text: str) -> Iterator[range]:
    """Yield where a quote stands.

    Without a position its words are looked for whatever their case and white space.
    """
    if quote.start is not None and quote.end is not None:
        yield range(quote.start, quote.end)
        return
    parts = [re.escape(part) for part in _WORD_GAP.split(quote.text.strip()) if part]
    for found in re.finditer(r"\s+".join(parts), text, re.IGNORECASE) if parts else ():
        yield range(*found.span())


def _evidence_in(place: range, spans: Sequence[EvidenceSpan]) -> int:
    return sum(_overlap(place, span) for span in spans)


def _overlap(place: range, span: EvidenceSpan) -> int:
    """Return how many characters a place and evidence share."""
    return max(0, min(place.stop, span.end) - max(place.start, span.start))


def _add_set(tally: Tally, truth: int | None, answer: ItemAnswer) -> None:
    outcomes = set(answer.outcomes or ())
    if answer.probabilities is not None:
        tally["forecasts"] += 1
        tally["squared_error"] += sum(
            (share - (outcome == truth)) ** 2
            for share, outcome in zip(answer.probabilities, OUTCOMES, strict=True)
        )
        outcomes = outcomes or likely_outcomes(answer.probabilities)
    tally["sets"] += bool(outcomes)
    tally["holding_sets"] += truth in outcomes
    tally["set_sizes"] += len(outcomes)


def likely_outcomes(probabilities: Sequence[float]) -> set[int | None]:
    """Return the fewest outcomes that are together as likely as `SET_SHARE`, likeliest first."""
    outcomes: set[int | None] = set()
    mass = 0.0
    ranked = sorted(zip(probabilities, OUTCOMES, strict=True), key=lambda one: -one[0])
    for share, outcome in ranked:
        if mass >= SET_SHARE - 1e-9:
            break
        outcomes.add(outcome)
        mass += share
    return outcomes
