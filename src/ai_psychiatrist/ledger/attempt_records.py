"""Turn a verdict into the attempt that a ledger keeps of it."""

from dataclasses import dataclass

from ai_psychiatrist import __version__
from ai_psychiatrist.ledger.records import AttemptRecord, Origin
from ai_psychiatrist.validation.verdict import Coercion, UnitError, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptOf:
    """Whose attempt it is, which one, and under which rules it was judged."""

    unit_id: str
    step: str
    round: int = 0
    attempt: int
    origin: Origin
    ruleset_digest: str = ""
    schema_digest: str = ""


def attempt_record(verdict: Verdict, about: AttemptOf, *, raw: str | None) -> AttemptRecord:
    """Return the record of an answer that was judged; an object is kept when it passed."""
    return AttemptRecord(
        unit_id=about.unit_id,
        step=about.step,
        round=about.round,
        attempt=about.attempt,
        origin=about.origin,
        stage=None if verdict.stage is None else verdict.stage.value,
        errors=tuple(map(error_note, verdict.errors)),
        warnings=tuple(map(error_note, verdict.warnings)),
        coercions=tuple(map(coercion_note, verdict.coercions)),
        raw=raw,
        output=verdict.value if verdict.is_valid else None,
        ruleset_digest=about.ruleset_digest,
        schema_digest=about.schema_digest,
        code_version=__version__,
    )


def error_note(error: UnitError) -> dict[str, object]:
    """Return an error or a warning as it is written: always with place, rule and message."""
    return {
        "path": error.path,
        "pointer": error.pointer,
        "rule": error.rule,
        "message": error.message,
    }


def coercion_note(coercion: Coercion) -> dict[str, object]:
    """Return a coercion as it is written."""
    place = UnitError(parts=coercion.parts, rule="coercion", message="")
    return {
        "path": place.path,
        "pointer": place.pointer,
        "before": coercion.before,
        "after": coercion.after,
        "before_type": coercion.before_type,
        "after_type": coercion.after_type,
    }
