"""Words that put an answer into the mouth of whom they ask."""

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Final

_VERB: Final = "is|are|was|were|do|does|did|have|has|had|will|would|can|could|should|must"
_TAGS: Final = (
    r",\s*(?:right|correct|yes|no|yeah|ok|okay|true|huh|eh|agreed)\s*\?",
    rf",\s*(?:{_VERB})\s+(?:it|you|he|she|they|that|there|we|i)(?:\s+not)?\s*\?",
)
_SPACES: Final = re.compile(r"\s+")


def leading_words(question: str) -> tuple[str, ...]:
    """Return the words of a question that suggest its answer, in their order, in lower case."""
    plain = _SPACES.sub(" ", question.replace("’", "'").replace("ʼ", "'").casefold())
    return tuple(found[0].strip(" ,") for found in _pattern().finditer(plain))


@cache
def _pattern() -> re.Pattern[str]:
    text = resources.files(__package__).joinpath("leading.toml").read_text(encoding="utf-8")
    phrases: list[str] = sorted(tomllib.loads(text)["phrases"], key=len, reverse=True)
    return re.compile("|".join([*(rf"\b{re.escape(phrase)}\b" for phrase in phrases), *_TAGS]))
