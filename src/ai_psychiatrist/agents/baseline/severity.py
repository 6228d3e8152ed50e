"""The meta-review task: a severity from the item scores, inside what they allow."""

from ai_psychiatrist.agents.baseline.replies import json_object
from ai_psychiatrist.domain.phq8 import (
    MAX_ITEM_SCORE,
    Item,
    Severity,
    TotalScore,
    severity_of,
    total_of,
)


def review(scores: str) -> str:
    """Reply with a severity. `scores`: JSON of item key → {"score": 0-3 or null}."""
    given = json_object(scores)
    values = [_score(given.get(item.value)) for item in Item]
    total = total_of(values)
    severity = _severity(values, total)
    return (
        f"<severity>{int(severity)}</severity>\n"
        f"<explanation>\n{_explanation(values, total, severity)}\n</explanation>"
    )


def _score(item: object) -> int | None:
    value = item.get("score") if isinstance(item, dict) else item
    is_score = isinstance(value, int) and not isinstance(value, bool)
    return value if is_score and isinstance(value, int) and 0 <= value <= MAX_ITEM_SCORE else None


def _severity(values: list[int | None], total: TotalScore) -> Severity:
    known = [value for value in values if value is not None]
    if not known:
        return total.severity_lower_bound
    # Half is rounded up, in whole numbers so that no float decides a band.
    estimate = (2 * sum(known) * len(values) + len(known)) // (2 * len(known))
    severity = severity_of(min(estimate, total.maximum))
    return Severity(min(max(severity, total.severity_lower_bound), total.severity_upper_bound))


def _explanation(values: list[int | None], total: TotalScore, severity: Severity) -> str:
    unknown = sum(value is None for value in values)
    said = f"A rule baseline, not a language model, gives {severity.label}."
    if unknown == 0:
        return f"{said} The eight item scores add up to {total.minimum}."
    if unknown == len(values):
        return f"{said} No item has a score, so that nothing speaks for a higher severity."
    return (
        f"{said} {len(values) - unknown} of {len(values)} items have a score; the total lies "
        f"between {total.minimum} and {total.maximum}, and unknown items are counted at the mean "
        "of the known ones."
    )
