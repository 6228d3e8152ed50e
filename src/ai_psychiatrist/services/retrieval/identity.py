"""Whose words something is, as digests: enough to keep a person's own words from them."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.transcript import Transcript

_WORD: Final = re.compile(r"[^\W_]+")
_DIGITS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A participant, a session and its words: hexadecimal digests of 32 digits.

    `participant` and `session` are `None` where nobody has said who or which it is.
    """

    words: str
    """Of the participant's words in their order; case, punctuation and labels do not count."""
    participant: str | None = None
    session: str | None = None

    @property
    def digests(self) -> frozenset[str]:
        """All of them: whoever shares one with somebody may be the same person."""
        return frozenset(one for one in (self.words, self.participant, self.session) if one)


def identity_of(
    transcript: Transcript,
    *,
    participant_id: int | str | None = None,
    session_id: str | None = None,
) -> Identity:
    """Return the identity of a transcript.

    A participant and a session of the same name have the same digest: corpora with one session a
    participant name only one of the two.
    """
    said = " ".join(
        word.casefold()
        for turn in transcript.participant_turns()
        for word in _WORD.findall(transcript.words(turn))
    )
    return Identity(
        words=_digest("words", said),
        participant=None if participant_id is None else name_digest(participant_id),
        session=None if session_id is None else name_digest(session_id),
    )


def name_digest(name: int | str) -> str:
    """Return the digest of a participant's or a session's identifier; `007` is `7`."""
    text = str(name).strip().casefold()
    return _digest("name", text.lstrip("0") or "0" if text.isdecimal() else text)


def split_digest(identities: Iterable[Identity]) -> str:
    """Return the digest of who is in a split, in whatever order."""
    return _digest("split", "\n".join(sorted(set(_lines(identities)))))


def _lines(identities: Iterable[Identity]) -> Iterator[str]:
    for one in identities:
        yield " ".join(sorted(one.digests))


def _digest(kind: str, text: str) -> str:
    content = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
