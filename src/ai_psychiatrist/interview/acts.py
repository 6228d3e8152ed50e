"""What a message of the person does, by rules: stop, pause, ask back, refuse, greet, or answer.

A message may do several things. What is left when the sentences that do something else are taken
out is read as an answer, by `phq8.free_answers`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, Final

from ai_psychiatrist.domain.interview_items import Act
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.reading_words import alternatives, whole_words
from ai_psychiatrist.interview.phq8.replies import reply_in

_SENTENCE: Final = re.compile(r"[^.!?…\n;]+[.!?…]*")
_PART: Final = re.compile(r"[^,–—]+")
_WHOLE: Final = (("stop", Act.STOP), ("pause", Act.PAUSE), ("fragment", Act.FRAGMENT))
_WORD: Final = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*|\?")
_LETTER: Final = re.compile(r"\w", re.UNICODE)
_KEYCAP: Final = re.compile(r"[0-9]\ufe0f?\u20e3")
_LONGEST_ACT: Final = 160
"""Characters of a sentence that may be nothing but a wish to stop or to pause."""
_LONGEST: Final = 4_000
_SHORT_QUESTION: Final = 3
"""Words; so few ask about what was just asked: "even in bed?"."""


class Topic(StrEnum):
    """What a question back is about; a protocol has a fixed answer to each."""

    READERS = "readers"
    PURPOSE = "purpose"
    LENGTH = "length"
    PERSON = "person"
    PERIOD = "period"
    CAUSES = "causes"
    MEANING = "meaning"
    OTHER = "other"
    """Anything else."""


_NAMED: Final = tuple(topic for topic in Topic if topic is not Topic.OTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAct:
    """One thing that a message does; characters of the message, end exclusive."""

    act: Act
    start: int
    end: int
    topic: Topic | None = None
    """Of a question back."""
    item: Item | None = None
    """Of a correction: the item whose answer it takes back."""


def acts_in(text: str) -> tuple[FoundAct, ...]:
    """Return the acts of a message, but for answers, refusals and corrections, in order.

    Deterministic, for any text; one that is longer than an answer may be has none.
    """
    return tuple(_acts(text)) if len(text) <= _LONGEST else ()


def says_nothing_yet(text: str) -> bool:
    """Return whether a message has no word at all: dots, or emoji that say neither yes nor no."""
    reply = reply_in(text)
    return not (_LETTER.search(text) or reply.is_yes or reply.is_no)


def speaks_of_question(text: str) -> bool:
    """Return whether a question back speaks of the one that was asked, whatever that is about."""
    spoken = _spoken(text)
    is_short = len(spoken.split()) <= _SHORT_QUESTION
    return is_short or bool(_within("asking", "of_question").search(spoken))


def is_return(text: str) -> bool:
    """Return whether a message after a pause only says that the person is back."""
    spoken = _spoken(text)
    return bool(_whole("back").fullmatch(spoken) or _whole("fragment").fullmatch(spoken))


def without(text: str, acts: Sequence[FoundAct]) -> str:
    """Return a message with spaces in the place of acts; all other characters keep their place."""
    left = list(text)
    for one in acts:
        left[one.start : one.end] = " " * (one.end - one.start)
    return "".join(left)


def _acts(text: str) -> Iterator[FoundAct]:
    if says_nothing_yet(text) and not _KEYCAP.search(text):
        yield FoundAct(act=Act.FRAGMENT, start=0, end=len(text))
        return
    found = tuple(_in_order(text))
    for one in found:
        # "Hang on" in the midst of an answer sets nothing aside: what follows does the work.
        if one.act is not Act.PAUSE or not _LETTER.search(without(text, found)[one.end :]):
            yield one


def _in_order(text: str) -> Iterator[FoundAct]:
    for start, end in _cut(_SENTENCE, text, 0, len(text)):
        sentence = text[start:end]
        act = _whole_act(sentence)
        if act is not None:
            yield FoundAct(act=act, start=start, end=end)
        elif sentence.rstrip().endswith("?") or _within("asking", "starts").match(
            _spoken(sentence)
        ):
            yield FoundAct(act=Act.QUESTION, start=start, end=end, topic=_topic(_spoken(sentence)))
        else:
            yield from _parts(text, start, end)


def _parts(text: str, start: int, end: int) -> Iterator[FoundAct]:
    """Yield the acts of a sentence between its commas: "most days, gotta go"."""
    parts = list(_cut(_PART, text, start, end))
    for begun, ended in parts if len(parts) > 1 else []:
        act = _whole_act(text[begun:ended])
        if act is not None:
            yield FoundAct(act=act, start=begun, end=ended)


def _cut(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for found in pattern.finditer(text, start, end):
        begun, ended = found.span()
        while begun < ended and text[begun].isspace():
            begun += 1
        if begun < ended:
            yield begun, ended


def _whole_act(words: str) -> Act | None:
    spoken = _spoken(words)
    if not spoken or len(words) > _LONGEST_ACT:
        return None
    return next((act for key, act in _WHOLE if _whole(key).fullmatch(spoken)), None)


def _topic(spoken: str) -> Topic:
    return next(
        (topic for topic in _NAMED if _within("question", topic.value).search(spoken)),
        Topic.OTHER,
    )


def _spoken(text: str) -> str:
    """Return the words in lower case, without apostrophes, joined by spaces."""
    words = (re.sub("['’ʼ]", "", word) for word in _WORD.findall(text.casefold()))
    return " ".join(word for word in words if word != "?")


@cache
def _whole(key: str) -> re.Pattern[str]:
    around = f"(?:{alternatives(_tables()['around']['words'])})"
    named = alternatives(_tables()["whole"][key])
    return re.compile(rf"(?:{around} ){{0,4}}(?:{named})(?: (?:{named}|{around})){{0,4}}")


@cache
def _within(section: str, key: str) -> re.Pattern[str]:
    return whole_words(alternatives(_tables()[section][key]))


@cache
def _tables() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("acts.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
