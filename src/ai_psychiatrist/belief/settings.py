"""Options of belief; each is read from the environment by `config` alone."""

from pydantic import Field

from ai_psychiatrist.llm.settings import Options


class BeliefSettings(Options):
    """How sure the scores of items are: what is asked for it, and how surely it is to hold."""

    level: float = Field(
        default=0.9,
        ge=0.5,
        le=0.99,
        description="Share of truths that sets and the total's interval are to hold, 0.5-0.99.",
    )
