"""What one interview adds to the figures: sums alone, so that resampling is one matrix product."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.location import held_by, is_found, is_right, place_of
from ai_psychiatrist.evaluation.challenge.prediction import (
    OUTCOMES,
    ChallengePrediction,
    GivenQuote,
    ItemAnswer,
)
from ai_psychiatrist.evaluation.challenge.truth import EvidenceSpan, InterviewTruth, ItemTruth

ABSTAINED: Final = 1.5
"""Charged for no score where the words determine one: half the scale."""
INVENTED: Final = 2.0
"""Charged for a score where nobody could know it: more than for silence."""
SET_SHARE: Final = 0.9
"""How likely the truth is to be in the set that is made of probabilities."""

_UNKNOWN: Final = ItemAnswer(score=None)


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts and sums of one interview."""

    items: float = 0
    charge: float = 0
    determinable: float = 0
    scored: float = 0
    """Of the determinable."""
    error: float = 0
    """Of the scored."""
    exact: float = 0
    opposite: float = 0
    """Of the scored: 0 for what is there, or 1 to 3 for what is denied."""
    undeterminable: float = 0
    invented: float = 0
    quotes: float = 0
    right_quotes: float = 0
    unsaid_quotes: float = 0
    """Those whose words nobody said."""
    spans: float = 0
    found_spans: float = 0
    read_quotes: float = 0
    """Right ones with a polarity, affirmed or denied."""
    misread_quotes: float = 0
    sets: float = 0
    holding_sets: float = 0
    set_sizes: float = 0
    forecasts: float = 0
    squared_error: float = 0
    """Of all five probabilities."""
    told_danger: float = 0
    dangerous: float = 0
    found_danger: float = 0
    harmless: float = 0
    false_alarms: float = 0
    counted_calls: float = 0
    calls: float = 0
    priced: float = 0
    cost_usd: float = 0


def tally_of(truth: InterviewTruth, text: str, given: ChallengePrediction | None) -> Tally:
    """Return what an interview adds; without an answer all its items are unknown."""
    tally = Tally()
    for item in Item:
        answer = given.items.get(item, _UNKNOWN) if given is not None else _UNKNOWN
        _add_score(tally, truth.items[item], answer.score)
        _add_quotes(tally, truth.items[item].spans, answer.quotes, text)
        _add_set(tally, truth.items[item].score, answer)
    alarm = None if given is None else given.danger
    tally.told_danger = float(alarm is not None)
    tally.dangerous, tally.harmless = float(truth.is_dangerous), float(not truth.is_dangerous)
    tally.found_danger = float(truth.is_dangerous and alarm is True)
    tally.false_alarms = float(not truth.is_dangerous and alarm is True)
    if given is not None and given.calls is not None:
        tally.counted_calls, tally.calls = 1.0, float(given.calls)
    if given is not None and given.cost_usd is not None:
        tally.priced, tally.cost_usd = 1.0, given.cost_usd
    return tally


def _add_score(tally: Tally, truth: ItemTruth, score: int | None) -> None:
    tally.items += 1
    if truth.score is None:
        tally.undeterminable += 1
        tally.invented += score is not None
        tally.charge += INVENTED if score is not None else 0
        return
    tally.determinable += 1
    if score is None:
        tally.charge += ABSTAINED
        return
    error = abs(score - truth.score)
    tally.scored += 1
    tally.error += error
    tally.charge += error
    tally.exact += error == 0
    tally.opposite += (score == 0) != (truth.score == 0)


def _add_quotes(
    tally: Tally, spans: Sequence[EvidenceSpan], quotes: Sequence[GivenQuote], text: str
) -> None:
    right = []
    for quote in quotes:
        place = place_of(quote, text, spans)
        tally.unsaid_quotes += place is None
        if place is None or not spans or not is_right(place, spans):
            continue
        right.append(place)
        if quote.polarity in {Polarity.AFFIRMED, Polarity.DENIED}:
            tally.read_quotes += 1
            tally.misread_quotes += quote.polarity is not held_by(place, spans).polarity
    tally.quotes += len(quotes)
    tally.right_quotes += len(right)
    needed = [span for span in spans if span.needed]
    tally.spans += len(needed)
    tally.found_spans += sum(is_found(span, right) for span in needed)


def _add_set(tally: Tally, truth: int | None, answer: ItemAnswer) -> None:
    outcomes = set(answer.outcomes) if answer.outcomes is not None else None
    if answer.probabilities is not None:
        tally.forecasts += 1
        tally.squared_error += sum(
            (share - (outcome == truth)) ** 2
            for share, outcome in zip(answer.probabilities, OUTCOMES, strict=True)
        )
        outcomes = likely_outcomes(answer.probabilities) if outcomes is None else outcomes
    if outcomes is not None:
        tally.sets += 1
        tally.holding_sets += truth in outcomes
        tally.set_sizes += len(outcomes)


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
