"""Control tokens of chat templates, broken wherever a text holds them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import rtoml

_JOINER: Final = "\u200d"
"""Invisible, and left out of account where quotes are compared: a model may copy it."""
_LONGEST_NAME: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateTokens:
    """The control tokens of one chat template, or of several that share them."""

    template: str
    tokens: tuple[str, ...]
    shapes: tuple[tuple[str, str], ...]
    """What stands before and after a name without spaces."""


def without_control_tokens(text: str) -> str:
    """Return a text in which no known control token is whole; all else is as it was."""
    return _tokens().sub(rf"\g<0>{_JOINER}", text)


@cache
def _tokens() -> re.Pattern[str]:
    """Match the first character of each token, so that tokens inside of others are found too."""
    rests = defaultdict(list)
    for template in control_tokens():
        for token in template.tokens:
            rests[token[0]].append(token[1:])
    firsts = [f"{re.escape(first)}(?={_any_of(ends)})" for first, ends in rests.items()]
    for template in control_tokens():
        for opening, closing in template.shapes:
            name = rf"[^\s{re.escape(opening[0] + closing)}]{{1,{_LONGEST_NAME}}}"
            rest = re.escape(opening[1:]) + name + re.escape(closing)
            firsts.append(f"{re.escape(opening[0])}(?={rest})")
    return re.compile("|".join(firsts))


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of words that share their beginnings: one step a character, however many."""
    following: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        following[word[:1]].append(word[1:])
    is_end = following.pop("", None) is not None
    branches = [re.escape(first) + _any_of(rests) for first, rests in sorted(following.items())]
    if is_end or not branches:
        return ""
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


@cache
def control_tokens() -> tuple[TemplateTokens, ...]:
    """Load the table."""
    file = resources.files("ai_psychiatrist.llm").joinpath("control_tokens.toml")
    return tuple(
        TemplateTokens(
            template=row["name"],
            tokens=tuple(row["tokens"]),
            shapes=tuple((opening, closing) for opening, closing in row.get("shapes", ())),
        )
        for row in rtoml.loads(file.read_text(encoding="utf-8"))["template"]
    )
