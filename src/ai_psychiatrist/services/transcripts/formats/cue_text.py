"""The text of a cue: whose words they are, and what of it is markup."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.services.transcripts.file_lines import on_one_line

_VOICE: Final = re.compile(r"<(/?)v(?!\w)([^<>]*)(>?)", re.IGNORECASE)
_NAME: Final = re.compile(r"(?:\.\S*)?(?:\s+(\S.*))?\s*", re.DOTALL)
_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG: Final = re.compile(
    r"</?(?:[bcius]|ruby|rt)(?:\.[^\s<>]*)?\s*>|</?(?:lang|font)(?:[.\s][^<>]*)?>"
    r"|<(?:\d+:)?\d+:\d+\.\d+>",
    re.IGNORECASE,
)
_STYLE: Final = re.compile(r"\{\\[^{}]*\}")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_MARK: Final = re.compile(r"(?:[-–—‐]|>>|&gt;&gt;)+")
_OTHER_SPEAKER: Final = re.compile(r"(?<=\n)[^\S\n]*[-–—‐]|>>|&gt;&gt;")
_BLANK: Final = "\u200b\u200e\u200f\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceSpan:
    """Words of one voice on one line; a voice that is named may say nothing."""

    voice: str | None = field(repr=False)
    words: str = field(repr=False)
    line: int
    """On which of the lines of the cue they begin, from 0."""


def voice_spans(text: str) -> Iterator[VoiceSpan]:
    """Yield the words of a cue in order, each line without a voice on its own.

    A voice lasts to its end tag, to the next voice, to the end of the cue, or to a line that
    begins with the mark of another speaker. A voice tag without a name or without its end names
    nobody, and what a tag without an end holds is kept as words. Tags and styles that are no
    words are dropped, entities decoded.
    """
    voice: str | None = None
    start = line = 0
    for tag in _VOICE.finditer(text):
        closing, name, end = tag.groups()
        named = _NAME.fullmatch(name) if end else None
        following = _plain(named[1] or "") if named and not closing else ""
        if voice is None and not following and named is None:
            continue
        yield from _of_voice(text[start : tag.start()], voice, line)
        line += text.count("\n", start, tag.start())
        voice = following or None
        start = tag.end() if named else tag.start()
        line += text.count("\n", tag.start(), start)
    yield from _of_voice(text[start:], voice, line)


def _of_voice(text: str, voice: str | None, line: int) -> Iterator[VoiceSpan]:
    other = 0
    if voice is not None:
        other = _other_speaker(text)
        yield VoiceSpan(voice=voice, words=_plain(text[:other]), line=line)
        line += text.count("\n", 0, other)
    for at, words in enumerate(text[other:].split("\n"), start=line):
        for part in _BREAK.split(words):
            if plain := _plain(part):
                yield VoiceSpan(voice=None, words=plain, line=at)


def _other_speaker(text: str) -> int:
    """Return where the words of a voice stop being its own."""
    first = len(text) - len(text.lstrip())
    own_mark = _MARK.match(text, first)
    other = _OTHER_SPEAKER.search(text, own_mark.end() if own_mark else first)
    return other.start() if other else len(text)


def has_voices(text: str) -> bool:
    """Whether a cue has tags of voices, named or not."""
    return _VOICE.search(text) is not None


def _plain(written: str) -> str:
    """Return words without markup, on one line; "" for those of which nothing is seen."""
    if not written:
        return ""
    bare = _TAG.sub("", _STYLE.sub("", _BREAK.sub(" ", written)))
    words = _ENTITY.sub(lambda entity: html.unescape(entity[0]), bare)
    words = on_one_line(words)
    return words if words.strip(_BLANK) else ""
