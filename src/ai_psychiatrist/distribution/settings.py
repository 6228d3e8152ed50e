"""Options of belief."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.infrastructure.options import CommaList, Options, WebAddress


class BeliefSettings(Options):
    """How sure the scores of items are: what is asked for it, and how surely it is to hold."""

    model_config = SettingsConfigDict(env_prefix="BELIEF_")

    sources: CommaList[BeliefSource] = Field(
        default=(BeliefSource.RULES,),
        description="Of `rules` (always among them), `rescoring`, `tokens`, `decision`.",
    )
    level: float = Field(
        default=0.9,
        ge=0.5,
        le=0.99,
        description="Belief that the total's interval is to hold, 0.5-0.99; a fit has its own.",
    )
    rescorings: int = Field(
        default=5, ge=2, le=20, description="How often items are scored anew, for `rescoring`."
    )
    temperature: float = Field(
        default=0.7, gt=0.0, le=2.0, description="Sampling temperature of these."
    )
    seed: int = Field(default=0, ge=0, description="Decides the order of the evidence in these.")
    decision_model: str | None = Field(
        default=None, description="Name of the model that decides, at its server, for `decision`."
    )
    decision_url: WebAddress | None = Field(
        default=None,
        description="Address of its server, which speaks the System One protocol.",
    )
    decision_api_key: SecretStr = Field(default=SecretStr(""), description="Its key.")
    fit: Path | None = Field(
        default=None,
        description="File of `evaluate belief`: recalibrates beliefs and makes sets.",
    )

    @property
    def asked(self) -> tuple[BeliefSource, ...]:
        """The sources, those that are models among them, each once."""
        named = {BeliefSource.RULES, *self.sources}
        return tuple(source for source in BeliefSource if source in named)
