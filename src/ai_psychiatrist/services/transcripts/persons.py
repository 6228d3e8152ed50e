"""Words for people, and what a line shows by them: who opens it, whom it asks."""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Final

import rtoml

from ai_psychiatrist.services.transcripts.lines import GAP

WORDS: Final = rtoml.loads(files(__package__).joinpath("words.toml").read_bytes().decode())


def _written(kind: str) -> list[str]:
    return [word for words in WORDS[kind].values() for word in words]


def _one_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


PERSONS: Final = frozenset(_written("person"))
MANNERS: Final = frozenset(_written("manner"))
_YOU: Final = re.compile(
    rf"(?<!\w)(?i:{_one_of(set(_written('you')) - set(WORDS['you']['capitals']))})(?!\w)"
    rf"|(?<!\w)(?:{_one_of(WORDS['you']['capitals'])})(?!\w)|[你您]|(?:あなた|か)[?？]"
    r"|(?:です|ます|ました|でした)か"
)
_FILLER: Final = re.compile(r"\byou (?:know|see)\b(?: what i mean)?|\bthank you\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…。！？؟])")
_TOLD: Final = re.compile(r"(?<=[^\W\d_])[,:]?[ ][\"“„«‘'][^\"”“»’]{1,300}[\"”“»’']")
"""Quoted in a sentence that tells who said it, or to whom."""
_LEAD: Final = rf"(?:&\w{{1,8}};|[\[(]p\.? ?\d{{1,4}}[\])]|[^\w\s]|[\d_]|{GAP}){{0,30}}?(?<!\w)"
_TITLED: Final = rf"(?:{_one_of(_written('title'))})\.?{GAP}+[^\W\d_][\w'’-]{{0,30}}"
_ARTICLE: Final = r"(?:(?:the|his|her|their|die|der|das|la|el|le|il|o|a|de|het)[ ])"
_DOCUMENT: Final = re.compile(
    rf"(?P<lead>{_LEAD})(?:[^\W\d_]{{1,30}}['’]s[ ])?(?:{_one_of(_written('document'))})"
    r"(?P<after>(?!\w)[^\w\r\n]*)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_RULE: Final = re.compile(r"(?:[-_=*–—~]\s?){3,}")
_SPEAKS: Final = re.compile(r"(?:speak|said|says|asks|continue|interrupt)\w*", re.IGNORECASE)
_ACKNOWLEDGED: Final = rf"(?:(?:{_one_of(_written('acknowledgement'))})\b[,.]? ){{0,2}}"
_PROMPT: Final = re.compile(
    rf"{_ACKNOWLEDGED}(?:{_one_of(_written('prompt'))})(?!\w)", re.IGNORECASE
)
_NOD: Final = re.compile(rf"(?:{_one_of(_written('acknowledgement'))})(?!\w)", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:I|[Mm]y|[Mm]e|ich|mir|mich|mein\w*|yo|je|io|eu|ik)\b|我|私|أنا")
_LONGEST_REMARK: Final = 120
_LONGEST_NOD: Final = 40
_SHORT: Final = 60
"""Characters of a heading."""
_HEAD: Final = 90
"""Characters in which a long label ends."""


def asks_somebody(line: str) -> bool:
    """Return whether a line asks its reader or listener; questions that it reports do not."""
    if not any(mark in line for mark in "?？؟"):
        return False
    own = _TOLD.sub("", line)
    return any(
        sentence.endswith(("?", "？", "؟")) and _YOU.search(_FILLER.sub("", sentence))
        for sentence in _SENTENCE_END.split(own)
    )


def speaks_to_somebody(line: str) -> bool:
    """Return whether a line by itself is what one says to a participant, and hardly the other way.

    A question, a prompt, a short acknowledgement, or a short statement about "you".
    """
    own = _FILLER.sub("", _TOLD.sub("", line)).strip()
    if own.endswith(("?", "？", "؟")) or prompts_somebody(line):
        return True
    if len(line) > _LONGEST_REMARK or not own.endswith((".", "!", "…", "。")):
        return False
    is_own = _OWN.search(own) is not None
    return (not is_own and _YOU.search(own) is not None) or (
        len(line) <= _LONGEST_NOD and _NOD.match(line) is not None
    )


def prompts_somebody(line: str) -> bool:
    """Return whether a sentence of a line opens as an interviewer's does."""
    return any(_PROMPT.match(sentence.strip()) for sentence in _SENTENCE_END.split(line))


def is_of_document(line: str) -> bool:
    """Return whether a line is written about the interview: a note, its end, the foot of a page."""
    if _RULE.fullmatch(line):
        return True
    found = _DOCUMENT.match(line)
    if found is None:
        return False
    stands_alone = not found["rest"] or ":" in found["after"] or found["rest"][0].isdigit()
    is_phrase = " " in line[found.end("lead") : found.start("after")]
    return stands_alone or (len(line) < _SHORT and is_phrase)


@lru_cache(maxsize=16)
def _opening(names: frozenset[str]) -> re.Pattern[str]:
    known = _one_of(names) or r"(?!)"
    return re.compile(
        rf"(?P<lead>{_LEAD})(?P<article>{_ARTICLE}|[^\W\d_]{{1,20}}['’]s[ ])?"
        rf"(?:(?P<met>{known})|(?P<person>{_one_of(PERSONS)}|{_TITLED}))\d{{0,3}}(?!\w)"
        rf"(?P<blank>{GAP}*)(?P<next>\S?)",
        re.IGNORECASE,
    )


def opens_as_person(line: str, names: Collection[str], *, flows: bool = False) -> bool:
    """Return whether a line opens with a label, or a word for a person, as with a label.

    `names`: the labels of the text as `label_key` gives them. `flows`: whether the line may go on
    with the sentence of the line before.
    """
    found = _opening(frozenset(names)).match(line)
    if found is None or (found["next"] in {"'", "’"} and not found["blank"]):
        return False
    if found["article"] and not found["article"].casefold().endswith("s "):
        return found["next"] in set("([:–—-") or ":" in line[:_HEAD]
    written = found["met"] or found["person"]
    may_flow = flows and written[0].islower()
    if found["blank"] != " " or not found["next"].isalpha():
        return not (may_flow and found["next"] in {",", ".", "!", "?", ""})
    if len(written) == 1:
        return written.isupper() and found["next"].isupper()
    is_like_label = (
        found["met"]
        or found["next"].isupper()
        or (written.isupper() and not line.isupper())
        or found["lead"].strip()
        or _SPEAKS.match(line, found.end() - 1)
    )
    return bool(is_like_label) and not may_flow
