"""Whose words something is, as digests: enough to keep a person's own words from them."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.transcript import Transcript, Turn

_WORD: Final = re.compile(r"[^\W_]+")
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
"""Marks that stand inside words and are not seen, such as the soft hyphen."""
_WHOLE_NUMBER: Final = re.compile(r"0*(\d+)(?:\.0+)?")
_FILE_ENDING: Final = re.compile(r"_(?:p|transcript)\Z")
"""What DAIC-WOZ's folders and files have behind a session's number."""
DIGESTS: Final = ("words", "conversation", "participant", "session")
"""What an identity has digests of."""
_DIGITS: Final = 32
_PASSAGE_WORDS: Final = 8
_PASSAGE_BYTES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A participant, a session and its words: hexadecimal digests of 32 digits.

    `participant` and `session` are `None` where they are not known.
    """

    words: str
    """Of the participant's words in their order; case, punctuation and labels do not count."""
    conversation: str | None = None
    """Of all speakers' words, the same however the speakers are told apart."""
    participant: str | None = None
    session: str | None = None
    passages: frozenset[int] = field(default=frozenset(), repr=False)
    """Of every eight consecutive words of the participant, 64 bits: copies share most of them."""

    @property
    def digests(self) -> frozenset[str]:
        """All of them: two identities that share one may be the same person."""
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
    own = _words(transcript, transcript.participant_turns())
    starts = range(len(own) - _PASSAGE_WORDS + 1)
    return Identity(
        words=_digest("words", " ".join(own)),
        conversation=_digest("words", " ".join(_words(transcript, transcript.turns))),
        participant=_name_digest(participant_id),
        session=_name_digest(session_id),
        passages=frozenset(_passage(" ".join(own[at : at + _PASSAGE_WORDS])) for at in starts),
    )


def split_digest(identities: Iterable[Identity]) -> str:
    """Return the digest of who is in a split, in any order."""
    people = {" ".join(sorted(one.digests)) for one in identities}
    return _digest("split", "\n".join(sorted(people)))


def _name_digest(name: str | float | None) -> str | None:
    """Return the digest of a participant's or a session's identifier.

    `007`, `7.0`, `7_P` and `7_TRANSCRIPT` are `7`.
    """
    if name is None:
        return None
    text = _FILE_ENDING.sub("", _plain(str(name)).strip())
    number = _WHOLE_NUMBER.fullmatch(text)
    return _digest("name", text if number is None else number[1])


def _words(transcript: Transcript, turns: Iterable[Turn]) -> list[str]:
    return [word for turn in turns for word in _WORD.findall(_plain(transcript.words(turn)))]


def _plain(text: str) -> str:
    """Return a text as it reads: letters in one form and case, without invisible marks."""
    return nfkc(_INVISIBLE.sub("", text)).casefold()


def _passage(text: str) -> int:
    content = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=_PASSAGE_BYTES).digest(), "little")


def _digest(kind: str, text: str) -> str:
    content = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
