"""What lies behind one unit of a run: its text, tasks, replies and quotes, for its owner alone."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

from ai_psychiatrist.agents.prompts.digests import PROMPT_DIGESTS, TASKS
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.folder import RunFolder, write_json
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.ledger.store.ledger import Ledger


def write_unit(ledger: Ledger, unit_id: str, out: Path) -> None:
    """Write one file with everything that the run keeps of a unit; it holds patient text.

    A task is among it where this program has the wording that the run was made with. Raises
    `InputError` for a unit that the run does not have, a run that keeps no words, and a file that
    cannot be written.
    """
    if not ledger.keeps_raw:
        msg = "the run was made without raw text (--no-raw): there are no words to show"
        raise InputError(msg, field="RUN")
    text = ledger.step_context(unit_id, ASSESSMENT_STEP)
    prompts = RunFolder(ledger.folder).require_run().get("prompts")
    document = {
        "unit_id": unit_id,
        "text": None if text is None else text.decode("utf-8", "replace"),
        "tasks": _tasks(prompts if isinstance(prompts, dict) else {}),
        "calls": list(_calls(ledger, unit_id)),
        "attempts": [
            record for step in ledger.steps for record in _attempts(ledger, unit_id, step)
        ],
    }
    try:
        write_json(out, document)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}", field="--out") from None


def _tasks(prompts: Mapping[str, object]) -> dict[str, str]:
    return {name: task for name, task in TASKS.items() if prompts.get(name) == PROMPT_DIGESTS[name]}


def _calls(ledger: Ledger, unit_id: str) -> Iterator[dict[str, object]]:
    for number, _ in enumerate(ledger.history(unit_id, ASSESSMENT_STEP), start=1):
        for call in ledger.calls_of(unit_id, number):
            yield {
                "attempt": number,
                "agent": call.agent,
                "model": call.model,
                "code": call.code,
                "reply": None if call.reply is None else _whole(call.reply),
            }


def _attempts(ledger: Ledger, unit_id: str, step: str) -> Iterator[dict[str, object]]:
    """Yield each reply with what was taken from it; the quotes are in `output`."""
    for number in count():
        history = ledger.history(unit_id, step, round=number)
        if not history:
            return
        for record in history:
            yield {
                "step": step,
                "round": number,
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
