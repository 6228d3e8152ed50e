"""Options of belief."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.infrastructure.options import CommaList, Options, WebAddress


class BeliefSettings(Options):
    """Score distributions: their sources, and the level of intervals."""

    model_config = SettingsConfigDict(env_prefix="BELIEF_")

    sources: CommaList[BeliefSource] = Field(
        default=(BeliefSource.RULES,),
        description=(
            "Sources of votes: `rules` (always included), `rescoring`, `tokens`, `decision`."
        ),
    )
    level: float = Field(
        default=0.9,
        ge=0.5,
        le=0.99,
        description=(
            "Probability that the total's interval is to contain, 0.5-0.99; a fit has its own."
        ),
    )
    rescorings: int = Field(
        default=5, ge=2, le=20, description="How often to score items again, for `rescoring`."
    )
    temperature: float = Field(
        default=0.7, gt=0.0, le=2.0, description="Sampling temperature for `rescoring`."
    )
    seed: int = Field(
        default=0, ge=0, description="Seed for the order of the evidence in `rescoring`."
    )
    decision_model: str | None = Field(
        default=None, description="Name of the decision model on its server, for `decision`."
    )
    decision_url: WebAddress | None = Field(
        default=None,
        description="Address of that server, which uses the System One protocol.",
    )
    decision_api_key: SecretStr = Field(
        default=SecretStr(""), description="API key of that server."
    )
    fit: Path | None = Field(
        default=None,
        description=(
            "File made by `evaluate belief`: calibrates score distributions and adds "
            "prediction sets."
        ),
    )

    @property
    def asked(self) -> tuple[BeliefSource, ...]:
        """The sources, those that are models among them, each once."""
        named = {BeliefSource.RULES, *self.sources}
        return tuple(source for source in BeliefSource if source in named)
