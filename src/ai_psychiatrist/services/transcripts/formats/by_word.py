"""Cuts what a file gives as one group where its words have speakers of their own."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ai_psychiatrist.services.transcripts.formats.gathering import Gathering
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word, and who says it."""

    written: str = field(repr=False)
    label: str | None = field(repr=False)
    start: float | None
    end: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordGroup:
    """What stands together in a file."""

    label: str | None = field(repr=False)
    """Whom the file names for all of it."""
    text: str = field(repr=False)
    words: Sequence[Word] = field(repr=False)
    """May be none; else those of the text, in its order."""
    number: int
    start: float | None
    end: float | None


def gather(group: WordGroup, gathering: Gathering) -> None:
    """Add a group of words, cut where they name another speaker than it or than one another.

    Of a group that is cut, words without a speaker belong to nobody. Raises `FileRefused` where
    its words are not those of its text.
    """
    labels = {word.label for word in group.words if word.label} | {group.label}
    if len(labels) == 1:
        gathering.add(group.label, group.text, line=group.number, start=group.start, end=group.end)
        return
    for run in _runs(group):
        words = group.text[run.begin : run.finish]
        gathering.add(run.label, words, line=group.number, start=run.start, end=run.end)


@dataclass(slots=True, kw_only=True)
class _Run:
    label: str | None
    begin: int
    finish: int
    start: float | None = None
    end: float | None = None


def _runs(group: WordGroup) -> list[_Run]:
    """Tile the text: what no word covers belongs to nobody, if it is more than punctuation."""
    runs: list[_Run] = []
    for word in group.words:
        written = word.written.strip()
        if not written:
            continue
        at = runs[-1].finish if runs else 0
        found = group.text.find(written, at)
        if found < 0:
            raise FileRefused(FileFault.BROKEN_ROW, group.number)
        _cover(runs, group.text, found)
        begin = found if runs else 0
        if not runs or runs[-1].label != word.label:
            runs.append(_Run(label=word.label, begin=begin, finish=begin, start=word.start))
        runs[-1].finish, runs[-1].end = found + len(written), word.end
    _cover(runs, group.text, len(group.text))
    return runs


def _cover(runs: list[_Run], text: str, end: int) -> None:
    """Let the runs reach up to a place."""
    at = runs[-1].finish if runs else 0
    if any(character.isalnum() for character in text[at:end]):
        if not runs or runs[-1].label is not None:
            runs.append(_Run(label=None, begin=at, finish=end))
        runs[-1].finish = end
    elif runs:
        runs[-1].finish = end
