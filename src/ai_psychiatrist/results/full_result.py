"""The result of a whole assessment, and how it shows itself."""

from collections.abc import Iterator

from ai_psychiatrist.results.models import (
    Envelope,
    EvaluationPart,
    MetaReviewPart,
    QualitativePart,
    QuantitativePart,
)
from ai_psychiatrist.results.notebook import html_of


class FullResult(Envelope):
    """Result of a whole assessment; a part that has no result is null and listed in failures."""

    quantitative: QuantitativePart | None
    """The item scores; null where they did not finish."""
    qualitative: QualitativePart | None
    """The narrative; null where it did not finish."""
    evaluation: EvaluationPart | None
    """How the narrative was judged; null where it was not."""
    meta_review: MetaReviewPart | None
    """The severity read from everything; null where it did not finish."""

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """Yield what is asked of a result first; its parts show the rest."""
        yield "status", self.status.value
        if self.quantitative is not None:
            yield from self.quantitative.shown_total()
        yield "danger", self.risk.level.value
        yield "failures", len(self.failures)
        yield "assessment_id", self.assessment_id

    def _repr_html_(self) -> str:
        """Return a table for a notebook, without anybody's words: notebooks are kept and shared."""
        return html_of(self, self.quantitative)
