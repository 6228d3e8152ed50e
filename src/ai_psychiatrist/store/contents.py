"""What is sealed, as bytes and back: transcripts, model calls, and what raters said."""

import json
from dataclasses import fields, replace
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.domain.acknowledgement import WasRead
from ai_psychiatrist.domain.model_call import ModelCall, RequestMessage
from ai_psychiatrist.domain.review import (
    Adjudicated,
    ChangedScore,
    Committed,
    EvidenceVerdict,
    MissedEvidence,
    Said,
)
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.store.keys import unreadable

T = TypeVar("T")

_KINDS: Final[dict[str, type[Said]]] = {
    "committed": Committed,
    "evidence": EvidenceVerdict,
    "missed": MissedEvidence,
    "score": ChangedScore,
    "gold": Adjudicated,
}
_SAID: Final = {kind: TypeAdapter[Said](shape) for kind, shape in _KINDS.items()}
_WAS_READ: Final = TypeAdapter(WasRead)
_TRANSCRIPT: Final = TypeAdapter(Transcript)
_CALL: Final = TypeAdapter(ModelCall)
_CALL_FIELDS: Final = tuple(field.name for field in fields(ModelCall))
_MOST_KNOWN: Final = 100_000_000
"""Characters that the known text stands for in all messages of a call together."""


def kind_of(said: Said) -> str:
    """Return the name of what kind of thing a rater said."""
    return next(kind for kind, shape in _KINDS.items() if isinstance(said, shape))


def said_bytes(said: Said) -> bytes:
    """Return what a rater said as it is sealed."""
    return _SAID[kind_of(said)].dump_json(said)


def said_in(kind: str, content: bytes) -> Said:
    """Return what a rater said; raises `ArtifactMismatch`."""
    if kind not in _SAID:
        raise unreadable()
    return _read(_SAID[kind], content)


def was_read_bytes(said: WasRead) -> bytes:
    """Return an acknowledgement as bytes to encrypt."""
    return _WAS_READ.dump_json(said)


def was_read_in(content: bytes) -> WasRead:
    """Return an acknowledgement from its bytes; raises `ArtifactMismatch`."""
    return _read(_WAS_READ, content)


def transcript_bytes(transcript: Transcript) -> bytes:
    """Return a transcript with its turns as it is sealed."""
    return _TRANSCRIPT.dump_json(transcript)


def transcript_in(content: bytes) -> Transcript:
    """Return a transcript; raises `ArtifactMismatch`."""
    return _read(_TRANSCRIPT, content)


def call_bytes(call: ModelCall, *, known: str = "") -> bytes:
    """Return a model call as it is sealed.

    `known`: a text that is kept already, such as the transcript; messages are kept as the parts
    around it.
    """
    values = {name: getattr(call, name) for name in _CALL_FIELDS}
    values["sent"] = [
        (role, text.split(known) if known and known in text else text) for role, text in call.sent
    ]
    return json.dumps(values).encode()


def call_in(content: bytes, *, known: str = "") -> ModelCall:
    """Return a model call; raises `ArtifactMismatch`. `known`: as `call_bytes` was given it."""
    try:
        values = json.loads(content)
        reply, sent = values.pop("reply"), values.pop("sent")
        # A file may come from somebody else, and is to fit the memory with all that it stands for.
        repeats = sum(len(text) - 1 for _, text in sent if isinstance(text, list))
        # Models send halves of characters, which are no text for Pydantic.
        call = _CALL.validate_python({**values, "sent": [(role, "") for role, _ in sent]})
        if not isinstance(reply, str | None) or repeats * len(known) > _MOST_KNOWN:
            raise unreadable()
        messages = (
            RequestMessage(role, known.join([text] if isinstance(text, str) else text))
            for role, text in sent
        )
        return replace(call, reply=reply, sent=tuple(messages))
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise unreadable() from None


def _read(shape: TypeAdapter[T], content: bytes) -> T:
    try:
        return shape.validate_json(content, strict=True)
    except ValidationError:
        # The cause quotes what is stored.
        raise unreadable() from None
