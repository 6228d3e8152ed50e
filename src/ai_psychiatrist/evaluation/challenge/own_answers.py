"""What an assessment of this project says, in the form that any system's answers have."""

from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.belief import ScoreSet
from ai_psychiatrist.domain.evidence import Quote, Relevance, Timeframe
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.evaluation.challenge.prediction import (
    ChallengePrediction,
    GivenQuote,
    ItemAnswer,
)

_CARRYING: Final = frozenset({Relevance.ABOUT, Relevance.UNREAD})


def prediction_of(assessment: Assessment, unit_id: str, text: str) -> ChallengePrediction:
    """Return what an assessment says; without scores it counts as failed."""
    scores = assessment.quantitative
    is_scored = scores is not None and scores.has_answers
    return ChallengePrediction(
        unit_id=unit_id,
        items=(
            {key: _answer(found, text) for key, found in scores.items.items()}
            if scores is not None and is_scored
            else {}
        ),
        danger=_danger(assessment.risk.level),
        calls=len(assessment.attempts),
    )


def _answer(found: ItemAssessment, text: str) -> ItemAnswer:
    belief = found.belief
    quotes = (given for quote in found.evidence for given in _quotes(quote, text))
    return ItemAnswer.model_validate(
        {
            "score": found.score,
            "quotes": tuple(quotes),
            "probabilities": None if belief is None else belief.probabilities,
            "set": None if belief is None else _outcomes(belief.set),
        }
    )


def _outcomes(found: ScoreSet | None) -> tuple[int | None, ...] | None:
    """Return what a set holds, `None` in it for not determinable."""
    if found is None:
        return None
    has_scores = found.low is not None and found.high is not None
    scores = range(found.low or 0, (found.high or 0) + 1) if has_scores else ()
    return (*scores, None) if found.not_determinable else tuple(scores)


def _quotes(quote: Quote, text: str) -> Iterator[GivenQuote]:
    """Yield the stretches of a quote that carries something of the item for the present."""
    if quote.relevance not in _CARRYING or quote.timeframe is Timeframe.PAST:
        return
    for segment in quote.segments:
        yield GivenQuote(
            text=text[segment.start : segment.end],
            start=segment.start,
            end=segment.end,
            polarity=quote.polarity,
        )


def _danger(level: RiskLevel) -> bool | None:
    """Return whether somebody should look at once; unknown where words were not read."""
    if level is RiskLevel.NOT_EXAMINED:
        return None
    return level.is_urgent
