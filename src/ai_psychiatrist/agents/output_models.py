"""What each agent's reply holds once it is accepted."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ai_psychiatrist.domain.assessment import Metric
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.llm.output import ModelOutput

NOT_ASSESSED = "not assessed in interview"
"""What a model writes, in any case, for a domain that the interview does not cover."""
NOT_EXAMINED = "The words that tell are in a language that the rules do not read."
"""The reason that the rule baseline gives where it could not read, and so has no answer."""
NOT_READ = "The rules could not read the transcript."
"""The reason that it gives where its reading failed."""
UNSETTLED = "The words can be read in two ways, and do not settle whether the symptom is there."
"""The reason that it gives where two readings stand."""

Scale3 = Annotated[int, Field(strict=True, ge=0, le=3)]
Scale4 = Annotated[int, Field(strict=True, ge=0, le=4)]
Scale5 = Annotated[int, Field(strict=True, ge=1, le=5)]


def words_of(text: str) -> str:
    """Return a text without the blanks around it, zero-width ones included."""
    return text.strip(_BLANKS)


_BLANKS: Final = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
)


def _not_blank(text: str) -> str:
    words = words_of(text)
    if not words:
        msg = "there are no words"
        raise ValueError(msg)
    return words


Words = Annotated[str, Field(min_length=1), AfterValidator(_not_blank)]


class QualitativeOutput(ModelOutput):
    """The narrative of the qualitative agent; a domain without content says that it has none."""

    assessment: Words
    phq8_symptoms: Words
    social_factors: Words
    biological_factors: Words
    risk_factors: Words
    exact_quotes: tuple[Words, ...] = ()
    """Quotes as the model gave them; none of them is checked yet."""


class EvidenceOutput(ModelOutput):
    """The quotes that the evidence agent extracted, not yet checked against the transcript."""

    quotes: dict[str, list[str]]
    """One list for each of the eight item keys."""
    unknown_keys: int = Field(default=0, ge=0)
    """How many keys of the reply name no item."""


class ItemScoreOutput(BaseModel):
    """The score of one item as the model proposes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    score: Scale3 | None
    """0-3, or `None` for N/A."""
    evidence: tuple[Words, ...] = ()
    reason: str = ""
    confidence: Scale5 | None = None


class QuantitativeOutput(ModelOutput):
    """The proposed scores of all eight items, by item key."""

    items: dict[str, ItemScoreOutput]

    def model_post_init(self, _: object, /) -> None:
        """Insist on exactly the eight items."""
        if set(self.items) != set(PHQ8_DOMAIN_KEYS):
            msg = "an assessment has exactly the eight items"
            raise ValueError(msg)


class JudgeMetricOutput(ModelOutput):
    """The judge's score for one metric, 1 (poor) to 5 (very good)."""

    score: Scale5
    explanation: Words


class MetricJudgement(BaseModel):
    """The score of one metric among several in one reply."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    score: Scale5
    explanation: Words


class JudgesOutput(ModelOutput):
    """The scores of a reply by metric; one whose part of the reply cannot be read is absent."""

    scores: Annotated[dict[Metric, MetricJudgement], Field(min_length=1)]


class MetaReviewOutput(ModelOutput):
    """The severity that the meta-review reads from everything, 0 (minimal) to 4 (severe)."""

    severity: Scale4
    explanation: Words


class DangerSign(BaseModel):
    """One sign of danger as the model gives it, its quote not yet checked."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    quote: Words
    kind: RiskKind
    polarity: RiskPolarity
    level: Literal[RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH]


class DangerOutput(ModelOutput):
    """The signs of danger that the danger agent found; none when the list is empty."""

    signs: tuple[DangerSign, ...]
