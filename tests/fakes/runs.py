"""Short ways to fill a run."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ai_psychiatrist.domain.failures import CallPath
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.run_records import AttemptRecord, KeptCall, Origin
from ai_psychiatrist.store.runs import RunStore


def new_run(
    folder: Path,
    units: Iterable[str] = (),
    *,
    steps: tuple[str, ...] = ("score",),
    keeps_raw: bool = True,
    cipher: Cipher | None = None,
    context: bytes | None = None,
    about: Mapping[str, str] | None = None,
) -> RunStore:
    """Return a run whose first step is requested for all units."""
    ledger = RunStore.create(folder, steps=steps, keeps_raw=keeps_raw, cipher=cipher, about=about)
    with ledger.transaction():
        for unit_id in units:
            ledger.units.add(unit_id, context=context, context_digest="digest")
            ledger.request(unit_id, steps[0])
    return ledger


def attempt(
    unit_id: str,
    stage: str | None = None,
    *,
    number: int = 1,
    step: str = "score",
    raw: str | None = "answer",
    origin: Origin = Origin.MODEL,
    output: Mapping[str, object] | None = None,
) -> AttemptRecord:
    """Return an attempt that ended at a stage, or passed."""
    error = {"path": "$", "pointer": "", "rule": "range", "message": "too high"}
    return AttemptRecord(
        unit_id=unit_id,
        step=step,
        attempt=number,
        origin=origin,
        stage=stage,
        errors=() if stage is None else (error,),
        raw=raw,
        output={"score": 1} if output is None and stage is None else output,
    )


def call(reply: str | None = "reply", **fields: object) -> ModelCall:
    """Return a call of the step `score`."""
    plain: dict[str, object] = {
        "agent": "score",
        "model": "model",
        "path": CallPath.AGENT,
        "digest": "d1",
    }
    return ModelCall(**{**plain, "reply": reply, **fields})  # type: ignore[arg-type]


def keep(ledger: RunStore, made: ModelCall, unit_id: str = "u1") -> None:
    """Keep a call of the first attempt at a unit."""
    ledger.calls.keep([KeptCall(unit_id, 1, made)])


def recalled(ledger: RunStore, digest: str = "d1", unit_id: str = "u1") -> ModelCall | None:
    """Find a call of the first attempt at a unit."""
    return next((one for one in ledger.calls.of_attempt(unit_id, 1) if one.digest == digest), None)
