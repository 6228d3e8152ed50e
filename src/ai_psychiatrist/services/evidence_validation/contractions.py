"""Contractions written out, so that "can't" and "can not" are the same words."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from ai_psychiatrist.services.evidence_validation.words import (
    ADVERBS,
    EXPANSIONS,
    NEGATED_STEMS,
    PARTICIPLES,
    PERFECTS,
    PERSONS,
    SHORTENED_AUXILIARIES,
    TIMELESS_PARTICIPLES,
    WITH_SHORTENED_VERB,
)

_NEGATED: Final = "n't"
_MOST_ADVERBS: Final = 3


def written_out(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield for each word what it is written out."""
    for at, word in enumerate(words):
        yield EXPANSIONS.get(word) or (tuple(_parts(words, at)) if "'" in word else (word,))


def _parts(words: Sequence[str], at: int) -> Iterator[str]:
    word = words[at]
    for ending, verb in SHORTENED_AUXILIARIES.items():
        if word.endswith(ending) and len(word) > len(ending):
            yield from _word_parts(word.removesuffix(ending), "have" if verb == "have" else "")
            yield verb
            return
    yield from _word_parts(word, _verb_after(words, at))


def _word_parts(word: str, following: str) -> Iterator[str]:
    if word in EXPANSIONS:
        yield from EXPANSIONS[word]
    elif word.endswith(_NEGATED) and word != "ain't":
        stem = word.removesuffix(_NEGATED)
        yield from (NEGATED_STEMS.get(stem, stem), "not")
    elif word.endswith(("'s", "'d")) and word[:-2] in WITH_SHORTENED_VERB:
        yield from (word[:-2], (_is_or_has if word.endswith("s") else _had_or_would)(following))
    else:
        yield word


def _verb_after(words: Sequence[str], at: int) -> str:
    """Return the first word after a place that is no adverb."""
    near = islice(words, at + 1, at + 2 + _MOST_ADVERBS)
    return next((word for word in near if word not in ADVERBS and not word.endswith("ly")), "")


def _is_or_has(following: str) -> str:
    return "has" if following in PERFECTS else "is"


def _had_or_would(following: str) -> str:
    """Return what "'d" stands for, or itself where the next word does not tell."""
    if not following or following in TIMELESS_PARTICIPLES | PERSONS:
        return "'d"
    is_past = following.endswith("ed") and not following.endswith("eed")
    return "had" if is_past or following in PARTICIPLES else "would"
