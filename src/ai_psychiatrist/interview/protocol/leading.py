"""Words that put an answer into the mouth of whom they ask."""

import re
from typing import Final

_PHRASES: Final = (
    "surely, obviously, of course, no doubt, undoubtedly, without question, needless to say, "
    "presumably, everyone knows, everybody knows, as we all know, we both know, "
    "as anyone would, you must, you have to admit, you have to agree, you should have, "
    "you probably, clearly you, you would agree, you'd agree, you will agree, you'll agree, "
    "i assume, i'm sure, i am sure, i bet, it is clear that, it's clear that, "
    "is it not true, isn't it true, isn't it, isn't that, wasn't it, weren't you, "
    "aren't you, don't you, didn't you, haven't you, hasn't it, won't you, wouldn't you, "
    "wouldn't it, couldn't you, shouldn't you, can't you, why didn't you just, "
    "wouldn't it be fair, would it be fair to say, how terrible, how awful"
).split(", ")
_VERB: Final = "is|are|was|were|do|does|did|have|has|had|will|would|can|could|should|must"
_TAGS: Final = (
    r",\s*(?:right|correct|yes|no|yeah|ok|okay|true|huh|eh|agreed)\s*\?",
    rf",\s*(?:{_VERB})\s+(?:it|you|he|she|they|that|there|we|i)(?:\s+not)?\s*\?",
)
_PATTERN: Final = re.compile(
    "|".join(
        [rf"\b{re.escape(phrase)}\b" for phrase in sorted(_PHRASES, key=len, reverse=True)]
        + list(_TAGS)
    )
)
_SPACES: Final = re.compile(r"\s+")


def leading_words(question: str) -> tuple[str, ...]:
    """Return the words of a question that suggest its answer, in their order, in lower case."""
    plain = _SPACES.sub(" ", question.replace("’", "'").replace("ʼ", "'").casefold())
    return tuple(found[0].strip(" ,") for found in _PATTERN.finditer(plain))
