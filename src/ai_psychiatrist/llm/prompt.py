"""What one call sends."""

from dataclasses import dataclass, field, replace

from ai_psychiatrist.infrastructure.digests import keyed_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What one call sends: the system text, and transcript block and task as the user's text."""

    system: str = field(repr=False)
    user: str = field(repr=False)
    stable_characters: int = 0
    """How much of the user's text later calls begin with, too; 0 when that is not known."""
    subject: str = ""
    """Keyed digest of what the call belongs to: metadata for a provider, part of no text."""

    @property
    def digest(self) -> str:
        """Keyed digest of both texts."""
        return keyed_digest(f"{self.system}\n{self.user}")


def ending_with(prompt: Prompt, words: str) -> Prompt:
    """Return the prompt with words at its end."""
    return replace(prompt, user=f"{prompt.user}\n\n{words}")
