"""How similar two texts are, letter by letter; the fuzzy mode's optional package."""

from types import ModuleType
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.services.evidence_validation.tokens import tokenise

_MOST_COMPARED: Final = 10**10
"""Characters of a quote, squared, times those of the text that it is compared with."""


def similarity_package() -> ModuleType:
    """Return rapidfuzz, or raise `ConfigurationError` with the cure where it is missing."""
    try:
        from rapidfuzz import fuzz  # noqa: PLC0415
    except ImportError:
        msg = (
            "QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_MODE=fuzzy needs rapidfuzz: "
            "pip install 'ai-psychiatrist[fuzzy]', or use substring"
        )
        raise ConfigurationError(msg) from None
    return fuzz


def similarity(quote: str, spoken: str) -> float:
    """Return 0-1 for the words of two texts; case and punctuation do not count."""
    ratio: float = similarity_package().ratio(_plain(quote), _plain(spoken))
    return ratio / 100


def is_similar_to_part(quote: str, text: str, *, least: float) -> bool:
    """Return whether some part of a text reaches a similarity; not told for long texts."""
    if len(quote) ** 2 * len(text) > _MOST_COMPARED:
        return False
    found: float = similarity_package().partial_ratio(quote, text, score_cutoff=100 * least)
    return found >= 100 * least


def _plain(text: str) -> str:
    return " ".join(tokenise(text).words)
