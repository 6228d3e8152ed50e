"""Settings of who may come in."""

from pydantic import Field

from ai_psychiatrist.llm.settings import Options


class AuthSettings(Options):
    """Who may come in."""

    required: bool = Field(
        default=False,
        description="Ask every caller for a key; `ai-psychiatrist keys create` makes one.",
    )
