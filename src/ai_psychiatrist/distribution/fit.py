"""A calibration fit: what labelled participants taught about distributions, as a file."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ai_psychiatrist.distribution.scores import SMOOTHING, WHOLE, set_of
from ai_psychiatrist.distribution.settings import BeliefSettings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.domain.evidence import Frequency, Polarity
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.infrastructure.digests import plain_digest

LEAST_PARTICIPANTS: Final = 40
"""Fewer labelled ones than these teach nothing that would hold for the next."""
FEATURES: Final = (
    *(f"log_{answer}" for answer in ("0", "1", "2", "3", "not_determinable")),
    *("affirmed", "denied", "frequency_stated", "refused", "warnings", "confidence"),
)
_LEAST_SHARE: Final = 0.001
"""The least probability whose logarithm is taken."""
_NOT_SAID: Final = 3
"""The confidence of a model that states none: the middle of 1 to 5."""
_LARGEST_FILE_BYTES: Final = 1_000_000

_MOST: Final = 1e6
"""Of any number of a fit: with larger ones nothing could be computed."""
Number = Annotated[float, Field(ge=-_MOST, le=_MOST, allow_inf_nan=False)]
Scale = Annotated[float, Field(ge=1e-9, le=_MOST, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]

_PROMPTS: Final = {
    BeliefSource.RULES: ("evidence", "quantitative"),
    BeliefSource.TOKENS: ("belief_tokens",),
    BeliefSource.DECISION: ("belief_decision",),
}
"""Source → the prompts that decide on what it says; those of the rules' evidence bear on all."""
_AGENTS: Final = ("quantitative", "rescoring", "belief_tokens", "belief_decision")


def conditions(
    settings: BeliefSettings,
    *,
    mode: AssessmentMode,
    models: Mapping[str, Iterable[str]],
    prompts: Mapping[str, str],
    rules: str,
) -> dict[str, object]:
    """Return what decides on distributions, as plain values: a fit holds for the same alone.

    `models`: agent → its chain; `prompts`: name → digest of its wording; those that do not bear on
    distributions are left out. `rules`: digest of those that read quotes, which vote and give
    features.
    """
    asked = settings.asked
    wordings = [name for source in _PROMPTS if source in asked for name in _PROMPTS[source]]
    made_by: dict[str, object] = {
        "sources": sorted(source.value for source in asked),
        "mode": mode.value,
        "models": {agent: list(models[agent]) for agent in _AGENTS if agent in models},
        "prompts": {name: prompts[name] for name in wordings if name in prompts},
        "rules": rules,
        "smoothing": SMOOTHING,
    }
    if BeliefSource.RESCORING in asked:
        made_by["rescoring"] = {"count": settings.rescorings, "temperature": settings.temperature}
    return made_by


def digest_of(made_by: Mapping[str, object]) -> str:
    """Return the digest of conditions."""
    return plain_digest(json.dumps(made_by, sort_keys=True), length=16)


def features_of(
    probabilities: Iterable[float],
    *,
    affirmed: int,
    denied: int,
    is_frequency_stated: bool,
    refused: int,
    warnings: int,
    confidence: int | None,
) -> tuple[float, ...]:
    """Return the features of an item in the order of `FEATURES`; counts by log(1 + count).

    `refused`: quotes of the evidence stage that were not the participant's words; `confidence`: 1
    to 5, as the model said it.
    """
    return (
        *(math.log(max(share, _LEAST_SHARE)) for share in probabilities),
        math.log1p(affirmed),
        math.log1p(denied),
        float(is_frequency_stated),
        math.log1p(refused),
        math.log1p(warnings),
        float(_NOT_SAID if confidence is None else confidence),
    )


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Recalibration(_Part):
    """An ordered logistic regression of the score, where there is one, on `FEATURES`."""

    features: tuple[str, ...]
    means: tuple[Number, ...]
    scales: tuple[Scale, ...]
    weights: tuple[Number, ...]
    thresholds: tuple[Number, Number, Number]

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if len({len(self.features), len(self.means), len(self.scales), len(self.weights)}) > 1:
            msg = "each feature has a mean, a scale and a weight"
            raise ValueError(msg)
        if list(self.thresholds) != sorted(self.thresholds):
            msg = "thresholds rise"
            raise ValueError(msg)
        return self

    def shares(self, features: tuple[float, ...]) -> tuple[float, ...]:
        """Return the probabilities of the scores 0 to 3."""
        parts = zip(features, self.means, self.scales, self.weights, strict=True)
        score = math.fsum((one - mean) / scale * weight for one, mean, scale, weight in parts)
        # The logistic function, in a form that does not overflow.
        below = [0.5 * (1 + math.tanh((cut - score) / 2)) for cut in self.thresholds]
        return tuple(
            upper - lower for lower, upper in zip([0.0, *below], [*below, 1.0], strict=True)
        )


class Stratum(_Part):
    """One dataset: up to which strangeness scores belong to a set, and how well that is known."""

    threshold: Share
    participants: int
    items: int
    coverage: Share
    """Share of truths that sets held, of participants whom their fit had not seen; each alike."""
    coverage_by_score: tuple[Share | None, Share | None, Share | None, Share | None]
    """The same share of the truths 0, 1, 2 and 3 apart; `None` of one that none is."""
    spread: Share
    """Standard deviation of the coverage over cohorts of this size."""


class Fit(_Part):
    """What belongs in the file of a fit."""

    schema_version: Literal[2] = 2
    digest: str
    """Of what the distributions were made by: sources, models, prompts, rules."""
    made_by: dict[str, object]
    level: Annotated[float, Field(ge=0.5, le=0.99)]
    participants: int
    recalibration: Recalibration
    strata: dict[str, Stratum]
    """Name and digest of a dataset → its threshold."""
    figures: dict[str, float]
    """Of participants whom the fit had not seen: before and after."""
    checksum: str = ""
    """Of all else, so that no number is changed by accident."""

    def sealed(self) -> "Fit":
        """Return the fit with its checksum."""
        rest = self.model_dump(mode="json", exclude={"checksum"})
        return self.model_copy(update={"checksum": plain_digest(json.dumps(rest, sort_keys=True))})

    def applied(self, belief: ItemBelief, item: ItemAssessment) -> ItemBelief:
        """Return the distribution of an item recalibrated, and with its set.

        The probability that no score can be told stays as it is: labels are always scores. As
        which dataset a new interview is like is not known, the widest threshold holds.
        """
        polarities = [quote.polarity for quote in item.evidence]
        features = features_of(
            belief.probabilities,
            affirmed=polarities.count(Polarity.AFFIRMED),
            denied=polarities.count(Polarity.DENIED),
            is_frequency_stated=item.frequency is not Frequency.UNSTATED,
            refused=item.llm_evidence_rejected_count,
            warnings=len(item.warnings),
            confidence=item.confidence,
        )
        shares = self.recalibration.shares(features)
        left = 1 - belief.not_determinable
        first, second, third, fourth = (left * share for share in shares)
        recalibrated = replace(
            belief,
            scores=(first, second, third, fourth),
            calibrated=True,
            raw=belief.probabilities,
        )
        limit = max((one.threshold for one in self.strata.values()), default=WHOLE)
        found = set_of(recalibrated, shares, limit=limit, level=self.level)
        return replace(recalibrated, set=found)


def load_fit(path: Path, *, made_by: Mapping[str, object]) -> Fit:
    """Read a fit that was made for distributions of this kind.

    Raises `ConfigurationError` for a file that is none, and `ArtifactMismatch`, naming in what they
    differ, for one that was made for distributions of another kind, or was changed since.
    """
    try:
        content = path.read_bytes()[: _LARGEST_FILE_BYTES + 1]
    except OSError:
        msg = "BELIEF_FIT names no file that can be read; make one with: evaluate belief RUN --out"
        raise ConfigurationError(msg) from None
    try:
        fit = Fit.model_validate_json(content)
    except ValidationError:
        msg = "BELIEF_FIT is no fit; make one with: ai-psychiatrist evaluate belief RUN --out FILE"
        raise ConfigurationError(msg) from None
    if fit.recalibration.features != FEATURES:
        msg = "BELIEF_FIT goes by other features than this version; make it again"
        raise ArtifactMismatch(msg)
    if fit.digest != digest_of(made_by):
        names = [name for name in made_by if fit.made_by.get(name) != made_by[name]]
        msg = (
            f"BELIEF_FIT was made for beliefs by other {', '.join(names) or 'means'}; it says "
            "nothing about these. Restore what it was made with, make another, or leave it out"
        )
        raise ArtifactMismatch(msg)
    if fit != fit.sealed():
        msg = "BELIEF_FIT was changed; make it again with: evaluate belief RUN --out"
        raise ArtifactMismatch(msg)
    return fit
