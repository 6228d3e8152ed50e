"""Whether a quote's first and last words stand where it says: a filler at its edge hides no cut."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.evidence_validation.marks import marks_in
from ai_psychiatrist.services.evidence_validation.tokens import Tokens, tokenise
from ai_psychiatrist.services.evidence_validation.word_stream import WordRange, WordStream
from ai_psychiatrist.services.evidence_validation.words import FILLERS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    """What a quote holds before its first compared word, or after its last."""

    words: tuple[str, ...]
    marks: tuple[str, ...]


_BARE: Final = _Edge(words=(), marks=())


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteEdges:
    """What a quote holds outside the words that are compared, in lower case."""

    head: _Edge
    tail: _Edge

    def hold(self, stream: WordStream, words: WordRange, transcript: Transcript) -> bool:
        """Return whether both edges of a quote fit the place where its words were found.

        Fillers and marks at an edge have to stand there next to the words, unless the turn begins
        or ends there; a mark that the turn does not have was only added.
        """
        if self.head is _BARE and self.tail is _BARE:
            return True
        before, after = stream.surroundings(words, transcript)
        text = transcript.text
        return _fits(self.head, text[before.gap], text[before.near], is_before=True) and _fits(
            self.tail, text[after.gap], text[after.near], is_before=False
        )


_NO_EDGES: Final = QuoteEdges(head=_BARE, tail=_BARE)


def edges_of(quote: str, compared: Tokens) -> QuoteEdges:
    """Return the edges of a quote of which some words are compared."""
    if compared.starts[0] == 0 and compared.ends[-1] == len(quote):
        return _NO_EDGES
    return QuoteEdges(
        head=_edge(quote[: compared.starts[0]]), tail=_edge(quote[compared.ends[-1] :])
    )


def _edge(text: str) -> _Edge:
    if not any(map(str.isalnum, text)):
        return _BARE
    text = text.lower()
    return _Edge(words=_sounds(text), marks=tuple(marks_in(text)))


def _sounds(text: str) -> tuple[str, ...]:
    """Return words with all fillers as one: "um" may be written "uhm"."""
    return tuple("um" if word in FILLERS else word for word in tokenise(text).words)


def _fits(edge: _Edge, gap: str, near: str, *, is_before: bool) -> bool:
    """Return whether an edge fits what stands beside a quote.

    `near`: the turn's characters beside the quote; `gap`: those of them up to the next word.
    """
    said, skippable = _sounds(near.lower()), len(tokenise(gap).words)
    if skippable == len(said):
        return True
    wanted = edge.words
    if is_before:
        said, wanted = said[::-1], wanted[::-1]
    far = near[: len(near) - len(gap)] if is_before else near[len(gap) :]
    return _begin_with(said, wanted, skippable) and all(
        mark in gap.lower() or mark not in far.lower() for mark in edge.marks
    )


def _begin_with(said: tuple[str, ...], wanted: tuple[str, ...], skippable: int) -> bool:
    """Return whether words begin with the wanted ones when some of the first may be left out."""
    met = 0
    for at, word in enumerate(said):
        if met == len(wanted):
            break
        if word == wanted[met]:
            met += 1
        elif at >= skippable:
            return False
    return met == len(wanted)
