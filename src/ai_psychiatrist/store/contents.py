"""What is sealed, as bytes and back: transcripts, model calls, and what raters said."""

from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.review import (
    ChangedScore,
    Committed,
    EvidenceVerdict,
    MissedEvidence,
    Said,
)
from ai_psychiatrist.domain.transcript import Transcript

T = TypeVar("T")

_KINDS: Final[dict[str, TypeAdapter[Said]]] = {
    "committed": TypeAdapter(Committed),
    "evidence": TypeAdapter(EvidenceVerdict),
    "missed": TypeAdapter(MissedEvidence),
    "score": TypeAdapter(ChangedScore),
}
_TRANSCRIPT: Final = TypeAdapter(Transcript)
_CALL: Final = TypeAdapter(ModelCall)


def kind_of(said: Said) -> str:
    """Return the name of what kind of thing a rater said."""
    match said:
        case Committed():
            return "committed"
        case EvidenceVerdict():
            return "evidence"
        case MissedEvidence():
            return "missed"
        case ChangedScore():
            return "score"


def said_bytes(said: Said) -> bytes:
    """Return what a rater said as it is sealed."""
    return _KINDS[kind_of(said)].dump_json(said)


def said_in(kind: str, content: bytes) -> Said:
    """Return what a rater said; raises `ArtifactMismatch`."""
    shape = _KINDS.get(kind)
    if shape is None:
        raise ArtifactMismatch(problem_code="assessment_unreadable")
    return _read(shape, content)


def transcript_bytes(transcript: Transcript) -> bytes:
    """Return a transcript with its turns as it is sealed."""
    return _TRANSCRIPT.dump_json(transcript)


def transcript_in(content: bytes) -> Transcript:
    """Return a transcript; raises `ArtifactMismatch`."""
    return _read(_TRANSCRIPT, content)


def call_bytes(call: ModelCall) -> bytes:
    """Return a model call as it is sealed."""
    return _CALL.dump_json(call)


def call_in(content: bytes) -> ModelCall:
    """Return a model call; raises `ArtifactMismatch`."""
    return _read(_CALL, content, strict=False)


def _read(shape: TypeAdapter[T], content: bytes, *, strict: bool = True) -> T:
    try:
        return shape.validate_json(content, strict=strict)
    except ValidationError:
        # The cause quotes what is stored.
        raise ArtifactMismatch(problem_code="assessment_unreadable") from None
