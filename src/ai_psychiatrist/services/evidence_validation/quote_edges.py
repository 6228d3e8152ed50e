"""Whether a quote's first and last words stand where it says: a filler at its edge hides no cut."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.evidence_validation.marks import marks_in
from ai_psychiatrist.services.evidence_validation.tokens import Tokens, tokenise
from ai_psychiatrist.services.evidence_validation.word_stream import Gap, Stretch, WordStream
from ai_psychiatrist.services.evidence_validation.words import FILLERS

_NEAR: Final = 400
"""How many characters beyond a quote are searched for a mark that it begins or ends with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    """What a quote holds before its first compared word, or after its last."""

    words: tuple[str, ...]
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteEdges:
    """What a quote holds outside the words that are compared, in lower case."""

    head: _Edge
    tail: _Edge

    def hold(self, stream: WordStream, stretch: Stretch, transcript: Transcript) -> bool:
        """Return whether both edges of a quote fit the place where its words were found.

        Fillers and marks at an edge have to stand there next to the words, unless the turn begins
        or ends there; a mark that the turn does not have was only added.
        """
        if not any((self.head.words, self.head.marks, self.tail.words, self.tail.marks)):
            return True
        before, after = stream.gaps(stretch)
        text = transcript.text
        return (
            before.start is None
            or _fits(self.head, text, before, (max(0, before.start - _NEAR), before.start))
        ) and (after.end is None or _fits(self.tail, text, after, (after.end, after.end + _NEAR)))


def edges_of(quote: str, compared: Tokens) -> QuoteEdges:
    """Return the edges of a quote of which some words are compared."""
    return QuoteEdges(
        head=_edge(quote[: compared.starts[0]]), tail=_edge(quote[compared.ends[-1] :])
    )


def _edge(text: str) -> _Edge:
    text = text.lower()
    return _Edge(words=_sounds(text), marks=tuple(marks_in(text)))


def _sounds(text: str) -> tuple[str, ...]:
    """Return words with all fillers as one: "um" may be written "uhm"."""
    return tuple("um" if word in FILLERS else word for word in tokenise(text).words)


def _fits(edge: _Edge, text: str, gap: Gap, beyond: tuple[int, int]) -> bool:
    between = text[gap.start : gap.end].lower()
    if edge.words and not _is_among(edge.words, _sounds(between)):
        return False
    far = text[beyond[0] : beyond[1]].lower()
    return all(mark in between or mark not in far for mark in edge.marks)


def _is_among(wanted: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Return whether words stand among others in their order."""
    rest = iter(said)
    return all(word in rest for word in wanted)
