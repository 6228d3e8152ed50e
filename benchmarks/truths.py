"""Ways in which a faithful quote may differ from what was transcribed.

Each makes a transcript line and a quote of it from a cut of words. The quote is the cut, its
meaning unharmed, and the line is what a transcriber may have written.
"""

import random
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from benchmarks.lies import ASIDES, bare, is_ending

Words = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What the transcript says in the place of the cut, and how it is quoted."""

    spoken: str
    quote: str


MakeTruth = Callable[[Words, random.Random], Truth | None]

_TYPOGRAPHY: Final = str.maketrans({"'": "’", '"': "“", "-": "–"})
_FILLERS: Final = ("um,", "uh,", "er,", "um", "uh", "um--", ", you know,", ", I mean,")
_WEIGHTY: Final = frozenset(
    "no not never none nothing yes yeah yep nope don't can't didn't isn't haven't won't doesn't "
    "wasn't one two three four five six seven eight nine ten eleven twelve twenty thirty forty "
    "hundred half once twice always sometimes often every days nights mostly definitely usually "
    "hardly without couldn't wouldn't aren't hasn't "
    "couple fifty definitely fifteen sixteen thirteen nineteen ninety seventy eighty n't slightly "
    "daily usually somewhat thousand dozen".split()
)
_GAP: Final = re.compile(r" (?!n't|')")
_TAGS: Final = (
    "<laughter>",
    "<sigh>",
    "[laughter]",
    "<cough>",
    "<deep breath>",
    "<LAUGHTER 2>",
    "[crosstalk]",
    "[chuckles]",
    "(laughs)",
    "(clears throat)",
    "[00:01:02]",
    "(12:30)",
)
_CONTRACTIONS: Final = {
    "it's": "it is",
    "that's": "that is",
    "there's": "there is",
    "they're": "they are",
    "we're": "we are",
    "i'm": "i am",
    "i've": "i have",
    "i'll": "i will",
    "you'll": "you will",
    "gonna": "going to",
    "wanna": "want to",
    "don't": "do not",
    "can't": "cannot",
    "didn't": "did not",
    "isn't": "is not",
    "wouldn't": "would not",
}
_WRITTEN_OUT: Final = {long: short for short, long in _CONTRACTIONS.items()}
_AFTER_HAS: Final = frozenset("been got had gotten".split())
_SHORT_UTTERANCES: Final = (
    "I'm okay",
    "not really",
    "I can't get going",
    "I'm not okay",
    "I just can't get going",
    "not at all",
    "it's not that much",
    "I'm doing okay",
)


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


def tag_put_in(words: Words, choose: random.Random) -> Truth | None:
    """Quote with a non-verbal tag that is not there."""
    inserted = _with_inserted(words, choose.choice(_TAGS[:10]), choose)
    return Truth(spoken=inserted.quote, quote=inserted.spoken)


def split_contraction(words: Words, _: random.Random) -> Truth | None:
    """Quote in one piece what was transcribed in two: "do n't"."""
    spoken = [_NEGATED.sub(r"\1 \2", word) for word in words]
    if spoken == words:
        return None
    return Truth(spoken=" ".join(spoken), quote=" ".join(words))


def said_again(words: Words, choose: random.Random) -> Truth | None:
    """Leave out the pronoun before its contraction: "I- I'm"."""
    places = [at for at, word in enumerate(words) if at and bare(word) in {"i'm", "i've", "it's"}]
    if not places:
        return None
    at = choose.choice(places)
    spoken = [*words[:at], words[at].partition("'")[0] + "-", *words[at:]]
    return Truth(spoken=" ".join(spoken), quote=" ".join(words))


def short_utterance(_: Words, choose: random.Random) -> Truth | None:
    """Quote a whole clause of common words."""
    said = choose.choice(_SHORT_UTTERANCES)
    return Truth(spoken=f". {said}.", quote=said)


def contraction_written_out(words: Words, _: random.Random) -> Truth | None:
    """Write contractions out, or the other way round."""
    spoken = " ".join(words)
    quoted = _CONTRACTION.sub(_other_form, spoken)
    if quoted.casefold() == spoken.casefold():
        return None
    return Truth(spoken=spoken, quote=quoted)


def _other_form(found: re.Match[str]) -> str:
    form, following = found[1].lower(), (found[2] or "").lower()
    if form.endswith("'s"):
        return form.replace("'s", " has" if following in _AFTER_HAS else " is")
    return _CONTRACTIONS.get(form) or _WRITTEN_OUT[form]


def filler(words: Words, choose: random.Random) -> Truth | None:
    """Leave a filler out."""
    return _with_inserted(words, choose.choice(_FILLERS), choose)


def repeated_start(words: Words, choose: random.Random) -> Truth | None:
    """Leave the repetition of a false start out."""
    length = choose.choice([1, 2, 3])
    at = choose.randrange(len(words) - length)
    if is_ending(words[at + length]) or is_ending(words[at]):
        return None
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
    while at and (is_ending(words[at]) or (bare(words[at - 1]), bare(words[at])) in ASIDES):
        at -= 1
    before, after = " ".join(words[:at]), " ".join(words[at:])
    glue = "" if inserted.startswith(",") else " "
    return Truth(spoken=f"{before}{glue}{inserted} {after}", quote=" ".join(words))


def _without_punctuation(text: str) -> str:
    return "".join(character for character in text if character not in ",.;:!?")


def _with_punctuation(text: str) -> str:
    return f"“{_GAP.sub(', ', text, count=1)}...”"


_NEGATED: Final = re.compile(r"\b(\w+)(n't)\b", re.IGNORECASE)
# Before other words "it's" may be either "it is" or "it has".
_CONTRACTION: Final = re.compile(
    rf"(?<![\w'])({'|'.join([*_CONTRACTIONS, *_WRITTEN_OUT])})(?![\w'])(?! n't)"
    r"(?:(?<!'s)|(?= (been|got|had|a|the|my|in|on|very|so|like)\b))",
    re.IGNORECASE,
)
WRITTEN_OUT: Final = frozenset({"contraction written out"})
"""Kinds that only the fuzzy mode accepts."""

TRUTHS: Final[dict[str, MakeTruth]] = {
    "exact": _same(lambda text: text),
    "case": _same(str.upper),
    "spacing": spacing,
    "typography": _same(lambda text: text.translate(_TYPOGRAPHY)),
    "punctuation dropped": _same(_without_punctuation),
    "punctuation added": _same(_with_punctuation),
    "decomposed letters": _same(lambda text: unicodedata.normalize("NFD", text)),  # noqa: TID251  ours
    "zero-width character": zero_width,
    "tag left out": tag,
    "filler left out": filler,
    "repeated start left out": repeated_start,
    "tag put in": tag_put_in,
    "split contraction": split_contraction,
    "pronoun said again": said_again,
    "whole short utterance": short_utterance,
    "contraction written out": contraction_written_out,
    "undecided: repeated weighty word": repeated_weighty_word,
}
