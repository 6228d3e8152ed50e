"""Whose words something is, as digests: enough to keep a person's own words from them."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.transcript import Transcript, Turn

_WORD: Final = re.compile(r"[^\W_]+")
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
"""Marks that stand inside words and are not seen, such as the soft hyphen."""
_WHOLE: Final = re.compile(r"0*(\d+)(?:\.0+)?")
_FILED: Final = re.compile(r"_(?:p|transcript)\Z")
"""What DAIC-WOZ's folders and files have behind a session's number."""
DIGESTS: Final = ("words", "conversation", "participant", "session")
"""What an identity has digests of."""
_DIGITS: Final = 32
_PASSAGE_WORDS: Final = 8
_PASSAGE_BYTES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A participant, a session and its words: hexadecimal digests of 32 digits.

    `participant` and `session` are `None` where nobody has said who or which it is.
    """

    words: str
    """Of the participant's words in their order; case, punctuation and labels do not count."""
    conversation: str | None = None
    """Of everybody's, the same however the speakers are told apart."""
    participant: str | None = None
    session: str | None = None
    passages: frozenset[int] = field(default=frozenset(), repr=False)
    """Of every eight consecutive words of the participant, 64 bits: copies share most of them."""

    @property
    def digests(self) -> frozenset[str]:
        """All of them: whoever shares one with somebody may be the same person."""
        return frozenset(one for name in DIGESTS if (one := getattr(self, name)))


def identity_of(
    transcript: Transcript,
    *,
    participant_id: str | float | None = None,
    session_id: str | None = None,
) -> Identity:
    """Return the identity of a transcript.

    A participant and a session of the same name have the same digest: corpora with one session a
    participant name only one of the two.
    """
    said = _words(transcript, transcript.participant_turns())
    return Identity(
        words=_digest("words", " ".join(said)),
        conversation=_digest("words", " ".join(_words(transcript, transcript.turns))),
        participant=None if participant_id is None else name_digest(participant_id),
        session=None if session_id is None else name_digest(session_id),
        passages=_passages(said),
    )


def name_digest(name: str | float) -> str:
    """Return the digest of a participant's or a session's identifier.

    `007`, `7.0`, `7_P` and `7_TRANSCRIPT` are `7`.
    """
    text = _FILED.sub("", _plain(str(name)).strip())
    number = _WHOLE.fullmatch(text)
    return _digest("name", text if number is None else number[1])


def split_digest(identities: Iterable[Identity]) -> str:
    """Return the digest of who is in a split, in whatever order."""
    return _digest("split", "\n".join(sorted(set(_lines(identities)))))


def _words(transcript: Transcript, turns: Iterable[Turn]) -> list[str]:
    return [word for turn in turns for word in _WORD.findall(_plain(transcript.words(turn)))]


def _plain(text: str) -> str:
    """Return a text as it reads: letters in one form and case, without what is not seen."""
    return nfkc(_UNSEEN.sub("", text)).casefold()


def _passages(said: Sequence[str]) -> frozenset[int]:
    starts = range(len(said) - _PASSAGE_WORDS + 1)
    return frozenset(_passage(" ".join(said[at : at + _PASSAGE_WORDS])) for at in starts)


def _passage(text: str) -> int:
    content = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=_PASSAGE_BYTES).digest(), "little")


def _lines(identities: Iterable[Identity]) -> Iterator[str]:
    for one in identities:
        yield " ".join(sorted(one.digests))


def _digest(kind: str, text: str) -> str:
    content = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
