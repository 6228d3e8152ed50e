"""Many assessments as a table that leads to the page of each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.page.sentences import band_words, is_of_rules, total_words
from ai_psychiatrist.results.page.sheet import file_html
from ai_psychiatrist.results.page.words import words
from ai_psychiatrist.results.risk_result import RiskResult
from ai_psychiatrist.results.wording import has_denials_alone


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """One assessment in the table."""

    name: str = field(repr=False)
    href: str = field(repr=False)
    """Where its page is, relative to the table, ready for a link."""
    status: AssessmentStatus
    total: str
    """A total, a range, or `none`."""
    least: int
    """What a range is sorted by; -1 for none."""
    band: str
    unknown_items: int | None
    """`None` where nothing was scored."""
    danger: RiskLevel
    danger_words: str
    to_read: int
    """How many signs are affirmed, hypothetical or unclear."""
    is_of_rules: bool
    """Whether any of its answers came from the rule baseline."""
    has_transcript: bool


def index_row(result: FullResult, *, name: str, href: str, has_transcript: bool) -> IndexRow:
    """Return the row of a result."""
    scores, total = result.quantitative, total_words(result)
    has_total = total != "none" and scores is not None and scores.total_score_min is not None
    return IndexRow(
        name=name,
        href=href,
        status=result.status,
        total=total,
        least=scores.total_score_min or 0 if has_total and scores is not None else -1,
        band=band_words(result),
        unknown_items=None if scores is None else scores.na_count,
        danger=result.risk.level,
        danger_words=_danger_words(result.risk),
        to_read=sum(one.group is RiskGroup.READ_NOW for one in result.risk.signals),
        is_of_rules=is_of_rules(result),
        has_transcript=has_transcript,
    )


def _danger_words(risk: RiskResult) -> str:
    is_denied = risk.level is RiskLevel.NONE and has_denials_alone(risk)
    return words(RiskGroup.DENIED).lower() if is_denied else words(risk.level)


def index_html(rows: Sequence[IndexRow]) -> str:
    """Return the table as a page that needs nothing else, in the order of the names."""
    in_order = sorted(rows, key=lambda row: row.name)
    found = Counter(row.danger for row in rows)
    return file_html(
        "index.html",
        script="index.js",
        rows=in_order,
        dangers=[(level, found[level]) for level in reversed(RiskLevel) if found[level]],
    )
