"""Cuts what a file gives as one stretch where its words have speakers of their own."""

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
class Stretch:
    """What stands together in a file."""

    label: str | None = field(repr=False)
    """Whom the file names for all of it."""
    text: str = field(repr=False)
    words: Sequence[Word] = field(repr=False)
    """May be none; else those of the text, in its order."""
    number: int
    start: float | None
    end: float | None


def gather(stretch: Stretch, gathering: Gathering) -> None:
    """Add a stretch, cut where the words name another speaker than it or than one another.

    Of a stretch that is cut, words without a speaker belong to nobody. Raises `FileRefused` where
    its words are not those of its text.
    """
    labels = {word.label for word in stretch.words if word.label} | {stretch.label}
    if len(labels) == 1:
        gathering.add(
            stretch.label, stretch.text, line=stretch.number, start=stretch.start, end=stretch.end
        )
        return
    for run in _runs(stretch):
        words = stretch.text[run.begin : run.finish]
        gathering.add(run.label, words, line=stretch.number, start=run.start, end=run.end)


@dataclass(slots=True, kw_only=True)
class _Run:
    label: str | None
    begin: int
    finish: int
    start: float | None = None
    end: float | None = None


def _runs(stretch: Stretch) -> list[_Run]:
    """Tile the text: what no word covers belongs to nobody, if it is more than punctuation."""
    runs: list[_Run] = []
    for word in stretch.words:
        written = word.written.strip()
        if not written:
            continue
        at = runs[-1].finish if runs else 0
        found = stretch.text.find(written, at)
        if found < 0:
            raise FileRefused(FileFault.BROKEN_ROW, stretch.number)
        _cover(runs, stretch.text, found)
        begin = found if runs else 0
        if not runs or runs[-1].label != word.label:
            runs.append(_Run(label=word.label, begin=begin, finish=begin, start=word.start))
        runs[-1].finish, runs[-1].end = found + len(written), word.end
    _cover(runs, stretch.text, len(stretch.text))
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
