"""Turn a reply's text into an agent's output, or ask the model again.

Each extractor raises a `ReplyRejected` that is a `ModelRetry`, with feedback for the model that
says what is wrong and what is wanted and never repeats the reply.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    JudgeMetricOutput,
    JudgesOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.agents.replies.evidence import read_evidence
from ai_psychiatrist.agents.replies.judgement import read_judgement, read_judgements
from ai_psychiatrist.agents.replies.meta_review import read_meta_review
from ai_psychiatrist.agents.replies.narrative import read_narrative
from ai_psychiatrist.agents.replies.scores import read_scores
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.llm.replies import ReplyRejected
from ai_psychiatrist.validation.reply.limits import refuse_broken_text

R = TypeVar("R")


def asking_again(extract: Callable[[str], R]) -> Callable[[str], R]:
    """Translate rejections into Pydantic AI's retry; the only place that does."""

    @wraps(extract)
    def extractor(text: str) -> R:
        try:
            refuse_broken_text(text)
            return extract(text)
        except OutputRejected as rejection:
            refused = rejection.detached()
        except (ValueError, RecursionError):
            # Such as a check of the output model that the extractor did not foresee.
            refused = OutputRejected(
                RejectionCode.WRONG_TYPE,
                "The reply does not have the form that the task shows. Keep to that form.",
            )
        # With the first rejection: a reply that is accepted needs no library to be read.
        from ai_psychiatrist.llm.pydantic_agent import asked_again  # noqa: PLC0415

        rejected = ReplyRejected(refused.code, refused.feedback, refused.violations)
        # The cause would carry the reply into tracebacks.
        raise asked_again(rejected) from None

    return extractor


@asking_again
def extract_qualitative(text: str) -> QualitativeOutput:
    """Read the tagged narrative; each tag has to be there and hold words."""
    return read_narrative(text)


@asking_again
def extract_evidence(text: str) -> EvidenceOutput:
    """Read the quotes per item; a value that is not a list of texts is refused, never coerced."""
    return read_evidence(text)


@asking_again
def extract_quantitative(text: str) -> QuantitativeOutput:
    """Read the proposed score of each of the eight items."""
    return read_scores(text)


@asking_again
def extract_judge_metric(text: str) -> JudgeMetricOutput:
    """Read the last score of a judge's reply, and the explanation."""
    return read_judgement(text)


@asking_again
def extract_judges(text: str) -> JudgesOutput:
    """Read the metrics that are there; a reply in which none can be read is refused."""
    return read_judgements(text)


@asking_again
def extract_meta_review(text: str) -> MetaReviewOutput:
    """Read the severity 0-4 and its explanation; a severity outside is refused, never clamped."""
    return read_meta_review(text)
