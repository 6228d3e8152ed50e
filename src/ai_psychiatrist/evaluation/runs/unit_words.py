"""What lies behind one unit of a run: text, prompts, replies and quotes, for its owner alone."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.run_folder import write_json
from ai_psychiatrist.evaluation.runs.unit import ASSESSMENT_STEP
from ai_psychiatrist.infrastructure.private_files import writing_to
from ai_psychiatrist.store.runs import RunStore


def write_unit(ledger: RunStore, unit_id: str, out: Path) -> None:
    """Write one file with everything that the run keeps of a unit; it holds patient text.

    Each call has the messages that were sent, the feedback on a rejected reply among them. Raises
    `InputError` for a unit that the run does not have, a run that keeps no words, and a file that
    cannot be written.
    """
    if not ledger.keeps_raw:
        msg = "the run was made without raw text (--no-raw): there are no words to show"
        raise InputError(msg, field="RUN")
    text = ledger.units.step_context(unit_id, ASSESSMENT_STEP)
    document = {
        "unit_id": unit_id,
        "text": None if text is None else text.decode("utf-8", "replace"),
        "calls": list(_calls(ledger, unit_id)),
        "attempts": [
            record for step in ledger.steps for record in _attempts(ledger, unit_id, step)
        ],
    }
    with writing_to(out, field="--out"):
        write_json(out, document)


def _calls(ledger: RunStore, unit_id: str) -> Iterator[dict[str, object]]:
    """Yield the calls of each attempt at the unit, the one that a stop cut short among them."""
    for number in range(1, len(ledger.history(unit_id, ASSESSMENT_STEP)) + 2):
        for call in ledger.calls.of_attempt(unit_id, number):
            yield {
                "attempt": number,
                "agent": call.agent,
                "model": call.model,
                "path": call.path,
                "hosts": None if call.hosts is None else list(call.hosts),
                "messages": [{"role": role, "text": _whole(text)} for role, text in call.sent],
                "code": call.code,
                "reply": None if call.reply is None else _whole(call.reply),
            }


def _attempts(ledger: RunStore, unit_id: str, step: str) -> Iterator[dict[str, object]]:
    """Yield each reply with what was taken from it; the quotes are in `output`."""
    for record in chain.from_iterable(ledger.rounds(unit_id, step)):
        yield {
            "step": step,
            "round": record.round,
            "attempt": record.attempt,
            "stage": record.stage,
            "errors": list(record.errors),
            "warnings": list(record.warnings),
            "raw": None if record.raw is None else _whole(record.raw),
            "output": record.output,
        }


def _whole(text: str) -> str:
    """Return a text that can be written; models send halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode("utf-8")
