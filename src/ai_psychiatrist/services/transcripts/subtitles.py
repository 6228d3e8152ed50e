"""Subtitle files as text: voices and labels become speakers, and no line is lost unsaid."""

import html
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.transcript import Speaker, SpeakerLabels
from ai_psychiatrist.evaluation.datasets.lines import Line, known_speaker, written
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode

if TYPE_CHECKING:
    from webvtt import Caption

SUBTITLE_SUFFIXES: Final = frozenset({".vtt", ".srt", ".sbv"})

_VOICE: Final = re.compile(r"<v(?:\.[^\s<>]+)?[ \t]+([^<>]+)>")
_TAG: Final = re.compile(
    r"</?(?:[bciu]|v|ruby|rt|lang|font)(?:[. \t][^<>]*)?>|<(?:\d+:)?\d+:\d+\.\d+>", re.IGNORECASE
)
_PREFIX: Final = re.compile(r"\s*(?:[->]+\s*)?([^\s:][^:]{0,59}?)\s*:\s+")
_TIMES: Final = re.compile(r"-->|\A\s*\d+:\d+:\d+\.\d+\s*,\s*\d+:\d+:\d+\.\d+\s*\Z")
_NO_CUE: Final = ("NOTE", "STYLE", "REGION")


class SubtitlesRefused(Exception):
    """The file is not in the form that its ending says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtitles:
    """The text of a file, with speaker labels where it has any, and what is odd."""

    text: str = field(repr=False)
    found: tuple[tuple[OddityCode, int | None], ...]


def read_subtitles(text: str, suffix: str, labels: SpeakerLabels) -> Subtitles:
    """Read the cues of a file in order.

    A cue without a voice in a file with voices is nobody's; a cue without a label continues the
    label before, as in plain text. Raises `SubtitlesRefused` for a malformed file and
    `ConfigurationError` where the reading library is not installed.
    """
    captions = _captions(text, suffix)
    lines: list[_Said] = list(_said(captions, labels))
    found = [(said.oddity, None) for said in lines if said.oddity is not None]
    left_out = [(OddityCode.WORDS_WITHOUT_TIMES, number) for number in _left_out(text, captions)]
    if all(said.is_unlabelled for said in lines):
        words = "\n".join(said.line.words for said in lines if said.line.words)
        return Subtitles(text=words, found=tuple(left_out))
    spoken = written([said.line for said in lines if said.line.words])
    return Subtitles(text=spoken, found=(*found, *left_out))


def _captions(text: str, suffix: str) -> "Sequence[Caption]":
    try:
        # Part of an extra, and needed for these files alone.
        from webvtt import WebVTT  # noqa: PLC0415
        from webvtt.errors import MalformedCaptionError, MalformedFileError  # noqa: PLC0415
    except ImportError:
        msg = "subtitles need the extra `evaluation`: pip install 'ai-psychiatrist[evaluation]'"
        raise ConfigurationError(msg) from None
    form = suffix.casefold().removeprefix(".")
    try:
        return tuple(WebVTT.from_buffer(io.StringIO(text), format=form).captions)
    except (MalformedFileError, MalformedCaptionError, ValueError):
        raise SubtitlesRefused from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    line: Line
    is_unlabelled: bool
    """Whether no voice or label has been met up to here."""
    oddity: OddityCode | None = None


def _said(captions: "Sequence[Caption]", labels: SpeakerLabels) -> Iterator[_Said]:
    speaker: Speaker | None = None
    for caption in captions:
        is_voiced = False
        for line in caption.lines:
            pieces = _VOICE.split(line)
            for label, words in zip([None, *pieces[1::2]], pieces[::2], strict=True):
                known = known_speaker(label, labels) if label else None
                plain = html.unescape(_TAG.sub("", words)).strip()
                prefix = _PREFIX.match(plain)
                if known is None and prefix and _is_label(prefix[1], labels):
                    known, plain = known_speaker(prefix[1], labels), plain[prefix.end() :]
                is_voiced = is_voiced or label is not None
                speaker = known.speaker if known else speaker
                yield _Said(
                    line=Line(speaker=speaker or Speaker.UNKNOWN, words=plain),
                    is_unlabelled=speaker is None,
                    oddity=known.oddity if known else None,
                )
        if is_voiced:
            speaker = Speaker.UNKNOWN


def _is_label(label: str, labels: SpeakerLabels) -> bool:
    return label.casefold() in labels.speakers()


def _left_out(text: str, captions: "Sequence[Caption]") -> Iterator[int]:
    """Yield the numbers of lines with words that belong to no cue; the library drops them."""
    kept = Counter(line.strip() for caption in captions for line in caption.lines)
    lines = [line.strip() for line in text.splitlines()]
    in_notes = lines[0].startswith("WEBVTT") if lines else False
    is_first = True
    for at, line in enumerate(lines):
        if not line or _TIMES.search(line):
            in_notes, is_first = False, not line
            continue
        in_notes = in_notes or (is_first and line.startswith(_NO_CUE))
        is_identifier = at + 1 < len(lines) and _TIMES.search(lines[at + 1]) is not None
        is_index = is_first and line.isdecimal()
        is_first = False
        if in_notes:
            continue
        if kept[line]:
            kept[line] -= 1
        elif not is_identifier and not is_index:
            yield at + 1
