"""A fit: what labelled participants taught about beliefs of one kind, as a file."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ai_psychiatrist.belief.facts import FEATURES, EvidenceFacts, features_of
from ai_psychiatrist.belief.sets import WHOLE, set_of
from ai_psychiatrist.domain.belief import ItemBelief
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.infrastructure.digests import plain_digest

LEAST_PARTICIPANTS: Final = 40
"""Fewer labelled ones than these teach nothing that would hold for the next."""
_LARGEST_FILE_BYTES: Final = 1_000_000

_MOST: Final = 1e6
"""Of any number of a fit: with larger ones nothing could be reckoned."""
Number = Annotated[float, Field(ge=-_MOST, le=_MOST, allow_inf_nan=False)]
Scale = Annotated[float, Field(ge=1e-9, le=_MOST, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Recalibration(_Part):
    """An ordered logistic regression of the score, where one can be told, on `FEATURES`."""

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
        below = [0.0, *(_sigmoid(cut - score) for cut in self.thresholds), 1.0]
        return tuple(below[place + 1] - below[place] for place in range(4))


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
    """Of what the beliefs were made by: sources, models, prompts, rules."""
    made_by: dict[str, object]
    level: Annotated[float, Field(ge=0.5, le=0.99)]
    participants: int
    recalibration: Recalibration
    strata: dict[str, Stratum]
    """Name and digest of a dataset → its threshold."""
    figures: dict[str, float]
    """Of participants whom the fit had not seen: before and after."""
    checksum: str = ""
    """Of all else, so that no number is changed unseen; whoever means to can write it anew."""

    def sealed(self) -> "Fit":
        """Return the fit with its checksum."""
        return self.model_copy(update={"checksum": self._checksum()})

    @property
    def is_whole(self) -> bool:
        """Whether the checksum is that of the rest."""
        return self.checksum == self._checksum()

    def _checksum(self) -> str:
        rest = self.model_dump(mode="json", exclude={"checksum"})
        return plain_digest(json.dumps(rest, sort_keys=True))

    def applied(self, belief: ItemBelief, facts: EvidenceFacts) -> ItemBelief:
        """Return a belief recalibrated, and with its set.

        How likely it is that no score can be told stays as it is: labels are always scores. As
        nobody knows which dataset a new interview is like, the widest threshold holds.
        """
        shares = self.recalibration.shares(features_of(belief.probabilities, facts))
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


def load_fit(path: Path, *, digest: str, made_by: Mapping[str, object]) -> Fit:
    """Read a fit that was made for beliefs of this kind.

    Raises `ConfigurationError` for a file that is none, and `ArtifactMismatch`, naming in what they
    differ, for one that was made for beliefs of another kind, or was changed since.
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
        msg = "BELIEF_FIT goes by other features than this version; make it anew"
        raise ArtifactMismatch(msg)
    if fit.digest != digest:
        names = [name for name in made_by if fit.made_by.get(name) != made_by[name]]
        msg = (
            f"BELIEF_FIT was made for beliefs by other {', '.join(names) or 'means'}; it says "
            "nothing about these. Restore what it was made with, make another, or leave it out"
        )
        raise ArtifactMismatch(msg)
    if not fit.is_whole:
        msg = (
            "BELIEF_FIT was changed after it was made; make it anew with: evaluate belief RUN --out"
        )
        raise ArtifactMismatch(msg)
    return fit


def _sigmoid(at: float) -> float:
    return 0.5 * (1 + math.tanh(at / 2))
