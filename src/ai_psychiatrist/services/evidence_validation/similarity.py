"""How similar two texts are, letter by letter; the fuzzy mode's optional package."""

from collections.abc import Sequence
from types import ModuleType
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.services.evidence_validation.tokens import Tokens
from ai_psychiatrist.services.evidence_validation.word_stream import written_out_tokens

_SAID: Final = 0.6
"""The weight of what is said in how similar two texts are; the rest is how it is written."""

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


def similarity(quote: Tokens, spoken: Tokens) -> float:
    """Return 0-1 for the words of a quote and of the whole span that it was found in.

    What the quote leaves out counts, and less so how its words are written; case, spacing,
    punctuation and marks do not.
    """
    said = _ratio(written_out_tokens(quote).words, written_out_tokens(spoken).words)
    return _SAID * said + (1 - _SAID) * _ratio(quote.words, spoken.words)


def _ratio(words: Sequence[str], others: Sequence[str]) -> float:
    found: float = similarity_package().ratio(" ".join(words), " ".join(others))
    return found / 100


def is_similar_to_part(quote: str, text: str, *, least: float) -> bool:
    """Return whether some part of a text reaches a similarity; not told for long texts."""
    if len(quote) ** 2 * len(text) > _MOST_COMPARED:
        return False
    found: float = similarity_package().partial_ratio(quote, text, score_cutoff=100 * least)
    return found >= 100 * least
