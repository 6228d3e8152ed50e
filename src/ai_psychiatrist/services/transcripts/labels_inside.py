"""Finds labels that stand within what somebody says."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from ai_psychiatrist.services.transcripts.label_candidates import COLONS
from ai_psychiatrist.services.transcripts.label_words import is_of_speaker
from ai_psychiatrist.services.transcripts.line_ends import BREAKS, GAP
from ai_psychiatrist.services.transcripts.persons import PERSONS
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels, decides, label_key

_INSIDE: Final = re.compile(
    rf"(?:(?<!\w)|\\n)(?P<label>[^\W\d_][\w'’]{{0,30}}\.?)[*_\])]{{0,3}}{GAP}?[{COLONS}]\**{GAP}*"
)
_ENDS: Final = (".", "!", "?", "…", "(", "[", "]")
"""Behind these what only a speaker is called is a label, met before or not."""
_ASIDE: Final = re.compile(
    rf"(?:[(\[{{<（【]{{1,2}}|(?<=\s)[/–—]){GAP}*(?P<label>[^\W\d_][\w'’.-]{{0,30}}?)"
    rf"(?P<mark>{GAP}*[{COLONS}.,–—-]|{GAP}+(?:says|said|asks|speaking)\b)?(?!\w)"
    rf"[^()\[\]{{}}<>（）【】/–—{BREAKS}]{{0,300}}(?:[)\]}}>）】]{{1,2}}|[/–—](?=\s|\Z))"
)

_WINDOW: Final = 400
"""Characters behind a label in which the aside that it opens ends."""


def labels_inside(
    text: str, start: int, end: int, last_words: Collection[str], labels: SpeakerLabels
) -> Iterator[re.Match[str]]:
    """Yield where labels stand within what somebody says; `last_words`: of the text's labels."""
    at = start
    while (inside := _INSIDE.search(text, at, end)) is not None:
        at = inside.end()
        aside = aside_of(
            text, max(start, inside.start() - 3), min(end, at + _WINDOW), last_words, ()
        )
        if aside is not None and aside.start() < inside.start() < aside.end():
            continue
        before = text[max(start, inside.start() - 2) : inside.start()].strip()
        if inside.start() > start and _is_inside(inside["label"], before[-1:], last_words, labels):
            yield inside


def aside_of(
    text: str, start: int, end: int, names: Collection[str], own: Collection[str]
) -> re.Match[str] | None:
    """Return the next aside in brackets, or between dashes, that a label opens."""
    for aside in _ASIDE.finditer(text, start, end):
        key, mark = label_key(aside["label"]), (aside["mark"] or "").strip()
        if key in own:
            continue
        is_letter = len(key) == 1 and aside["label"].isupper() and mark in {":", ".", "-", "–", "—"}
        is_dashed = aside[0][0] in "/–—"
        is_known = key in names and (len(key) > 1 or bool(mark))
        if is_dashed and mark != ":":
            continue
        is_labelled = not is_dashed and mark in set(COLONS)
        if is_letter or is_known or is_labelled or (key in PERSONS and mark):
            return aside
    return None


def last_words_of(labels: Iterable[str]) -> set[str]:
    """Return by what alone labels are known within a line: `Smith` for `Dr. Smith`."""
    return {key.split()[-1] for key in map(label_key, labels) if key}


def _is_inside(label: str, before: str, last_words: Collection[str], labels: SpeakerLabels) -> bool:
    is_known = label_key(label) in {*last_words, *PERSONS} or decides(label, labels)
    if len(label) == 1:
        return is_known and label.isupper() and before in {"(", "[", *_ENDS}
    return is_known or (before in _ENDS and is_of_speaker(label))
