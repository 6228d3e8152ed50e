"""The meta-review task: a severity from the item scores, inside what they allow."""

from collections.abc import Mapping

from ai_psychiatrist.agents.baseline.signals import Analysis
from ai_psychiatrist.agents.output_models import NOT_EXAMINED, NOT_READ
from ai_psychiatrist.domain.phq8 import (
    MAX_ITEM_SCORE,
    Item,
    Severity,
    TotalScore,
    severity_of,
    total_of,
)


def review(scores: Mapping[str, object], analysis: Analysis) -> str:
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
    if len(known) == len(Item):
        return False
    return analysis.examined.is_mostly_unread or (not known and bool(analysis.unread_items))


def _score(item: object) -> int | None:
    value = item.get("score") if isinstance(item, dict) else item
    # A bool is an int, too.
    return value if type(value) is int and 0 <= value <= MAX_ITEM_SCORE else None


def _severity(known: list[int], total: TotalScore) -> Severity:
    if not known:
        return total.severity_lower_bound
    # Half is rounded up, in whole numbers so that no float decides a band.
    estimate = (2 * sum(known) * len(Item) + len(known)) // (2 * len(known))
    severity = severity_of(min(estimate, total.maximum))
    return Severity(min(max(severity, total.severity_lower_bound), total.severity_upper_bound))


def _explanation(known: int, total: TotalScore) -> str:
    if known == len(Item):
        return f"The eight item scores add up to {total.minimum}."
    if known == 0:
        return "No item has a score, so that nothing speaks for a higher severity."
    return (
        f"{known} of {len(Item)} items have a score; the total lies between {total.minimum} and "
        f"{total.maximum}, and unknown items are counted at the mean of the known ones."
    )
