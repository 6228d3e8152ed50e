"""The rules' vote: what fixed rules read from the grounded quotes of an item, whoever scored it."""

from collections.abc import Iterable, Sequence
from typing import Final

from ai_psychiatrist.belief.votes import NOT_DETERMINABLE
from ai_psychiatrist.domain.evidence import Frequency, Quote, Relevance, Timeframe, stated_frequency
from ai_psychiatrist.domain.items import ItemAssessment

_ELSEWHERE: Final = frozenset({Relevance.ELSEWHERE, Relevance.OTHER_PERSON, Relevance.INSTRUCTION})
_SCORES: Final = {
    Frequency.SEVERAL_DAYS: 1,
    Frequency.MORE_THAN_HALF: 2,
    Frequency.NEARLY_EVERY_DAY: 3,
}
_LEAST: Final = 1
"""The score of a symptom that is there, and nobody says how often."""


def rules_vote(item: ItemAssessment) -> int | None:
    """Return the score that an item's grounded quotes state, `None` where they do not settle it.

    An affirmed symptom scores as often as it is said to be there; a denied one 0. Where both are
    said, the affirmed one counts if it is dated to these weeks or says how often, else neither.
    """
    quotes = [quote for quote in item.evidence if quote.relevance not in _ELSEWHERE]
    affirmed = [quote for quote in quotes if quote.supports_symptom]
    if affirmed and (_are_dated(affirmed) or not _is_denied(quotes)):
        return _score_of(affirmed)
    return NOT_DETERMINABLE if affirmed or not _is_denied(quotes) else 0


def _score_of(affirmed: Sequence[Quote]) -> int:
    return _SCORES.get(stated_frequency(affirmed), _LEAST)


def _is_denied(quotes: Iterable[Quote]) -> bool:
    return any(quote.denies_symptom for quote in quotes)


def _are_dated(affirmed: Iterable[Quote]) -> bool:
    return any(
        quote.timeframe is Timeframe.RECENT or quote.frequency is not Frequency.UNSTATED
        for quote in affirmed
    )
