"""Ways in which a faithful quote may differ from what was transcribed.

Each makes a transcript line and a quote of it from a cut of words. The quote is the cut, its
meaning unharmed, and the line is what a transcriber may have written.
"""

import random
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from benchmarks.lies import bare

Words = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What the transcript says in the place of the cut, and how it is quoted."""

    spoken: str
    quote: str


MakeTruth = Callable[[Words, random.Random], Truth | None]

_TYPOGRAPHY: Final = str.maketrans({"'": "’", '"': "“", "-": "–"})
_FILLERS: Final = ("um,", "uh,", "er,", "um", "uh", ", you know,", ", I mean,")
_WEIGHTY: Final = frozenset(
    "no not never none nothing yes yeah yep nope don't can't didn't isn't haven't won't doesn't "
    "wasn't one two three four five six seven eight nine ten eleven twelve twenty thirty forty "
    "hundred half once twice always sometimes often every days nights mostly definitely usually "
    "hardly without couldn't wouldn't aren't hasn't "
    "couple fifty definitely fifteen sixteen thirteen nineteen ninety seventy eighty n't slightly "
    "daily usually somewhat thousand dozen".split()
)
_TAGS: Final = ("<laughter>", "<sigh>", "[laughter]", "<cough>")


def _same(quoted: Callable[[str], str]) -> MakeTruth:
    def make(words: Words, _: random.Random) -> Truth | None:
        spoken = " ".join(words)
        return Truth(spoken=spoken, quote=quoted(spoken))

    return make


def spacing(words: Words, choose: random.Random) -> Truth | None:
    """Quote with other white space."""
    gaps = [choose.choice(["  ", "\n", "\t", " \u00a0"]) for _ in words]
    return Truth(
        spoken=" ".join(words),
        quote="".join(word + gap for word, gap in zip(words, gaps, strict=True)),
    )


def zero_width(words: Words, choose: random.Random) -> Truth | None:
    """Put an invisible character into a word."""
    at = choose.randrange(len(words))
    word = words[at]
    middle = len(word) // 2
    quoted = [*words[:at], word[:middle] + "\u200b" + word[middle:], *words[at + 1 :]]
    return Truth(spoken=" ".join(words), quote=" ".join(quoted))


def tag(words: Words, choose: random.Random) -> Truth | None:
    """Leave a non-verbal tag out."""
    return _with_inserted(words, choose.choice(_TAGS), choose)


def filler(words: Words, choose: random.Random) -> Truth | None:
    """Leave a filler out."""
    return _with_inserted(words, choose.choice(_FILLERS), choose)


def repeated_start(words: Words, choose: random.Random) -> Truth | None:
    """Leave the repetition of a false start out."""
    length = choose.choice([1, 2, 3])
    at = choose.randrange(len(words) - length)
    if not _WEIGHTY.isdisjoint(map(bare, words[at : at + length])):
        return None
    spoken = [*words[: at + length], *words[at:]]
    return Truth(spoken=" ".join(spoken), quote=" ".join(words))


def repeated_weighty_word(words: Words, choose: random.Random) -> Truth | None:
    """Leave the repetition of a negation, number or answer out, which no rule can judge."""
    places = [at for at, word in enumerate(words) if bare(word) in _WEIGHTY]
    if not places:
        return None
    at = choose.choice(places)
    return Truth(spoken=" ".join([*words[: at + 1], *words[at:]]), quote=" ".join(words))


def _with_inserted(words: Words, inserted: str, choose: random.Random) -> Truth:
    at = choose.randrange(1, len(words))
    if bare(words[at - 1]) in {"you", "i"}:
        at -= 1
    before, after = " ".join(words[:at]), " ".join(words[at:])
    glue = "" if inserted.startswith(",") else " "
    return Truth(spoken=f"{before}{glue}{inserted} {after}", quote=" ".join(words))


def _without_punctuation(text: str) -> str:
    return "".join(character for character in text if character not in ",.;:!?")


def _with_punctuation(text: str) -> str:
    return f"“{text.replace(' ', ', ', 1)}...”"


TRUTHS: Final[dict[str, MakeTruth]] = {
    "exact": _same(lambda text: text),
    "case": _same(str.upper),
    "spacing": spacing,
    "typography": _same(lambda text: text.translate(_TYPOGRAPHY)),
    "punctuation dropped": _same(_without_punctuation),
    "punctuation added": _same(_with_punctuation),
    "decomposed letters": _same(lambda text: unicodedata.normalize("NFD", text)),
    "zero-width character": zero_width,
    "tag left out": tag,
    "filler left out": filler,
    "repeated start left out": repeated_start,
    "undecided: repeated weighty word": repeated_weighty_word,
}
