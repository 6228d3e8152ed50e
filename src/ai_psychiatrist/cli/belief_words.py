"""How sure the scores are, in a few words for a terminal."""

from ai_psychiatrist.domain.belief import ScoreSet
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment


def item_belief(item: ItemAssessment) -> str:
    """Return the belief in an item's answer, and its set; empty where there is none."""
    belief = item.belief
    if belief is None:
        return ""
    share = belief.not_determinable if item.score is None else belief.scores[item.score]
    words = f"belief {share:.0%}"
    return words if belief.set is None else f"{words}\n{_set(belief.set)}"


def total_belief(scores: PHQ8Assessment) -> str:
    """Return where the total is believed to lie; empty where nothing is believed."""
    interval = scores.total_interval
    if interval is None:
        return ""
    beliefs = [item.belief for item in scores.items.values() if item.belief is not None]
    sources = dict.fromkeys(source.value for belief in beliefs for source in belief.sources)
    is_calibrated = all(belief.calibrated for belief in beliefs)
    kind = "recalibrated" if is_calibrated else "uncalibrated"
    return (
        f"Believed: {interval.low} to {interval.high} at {interval.level:.0%}, mean "
        f"{interval.mean:.1f} ({kind}, from {', '.join(sources)})"
    )


def _set(found: ScoreSet) -> str:
    span = "" if found.low is None else str(found.low)
    if found.low != found.high:
        span = f"{found.low}-{found.high}"
    parts = [span, "unknown" if found.not_determinable else ""]
    return f"set {' or '.join(part for part in parts if part)} ({found.level:.0%})"
