"""Validate lines, from the first to the account at the end."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Final, TypeAlias

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.validation.checks.host_fields import (
    METADATA,
    RETRY_COUNT,
    SET_ASIDE,
    UNIT_ID,
    UnitSurroundings,
)
from ai_psychiatrist.validation.checks.step_config import Find
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.verdict import Verdict, guarded, internal_error, refusal
from ai_psychiatrist.validation.jsonl.context import NOT_ASKED, AskedUnits
from ai_psychiatrist.validation.jsonl.lines import Line
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.summary import Summary, Tally, summarise
from ai_psychiatrist.validation.jsonl.unit import UNCHECKED, OnUnit, Unit, read_unit

logger = get_logger(__name__)

BLOCK_LINES: Final = 32
"""What so many lines become still lies in the processor's cache when it is written."""
BLOCK_BYTES: Final = 1_000_000

Earlier: TypeAlias = Callable[[str], Mapping[str, object] | None]
"""Gives what earlier steps of a pipeline know of a unit; `None` when that is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationOptions:
    """How a run is done."""

    deadline_seconds: float | None = None
    """What is not checked by then fails as `pipeline_internal`."""
    needs_unit_ids: bool = True
    """Whether a line that names no unit fails; else it is a unit without a name."""
    on_unit: OnUnit | None = None
    on_progress: Callable[[int, int], None] | None = None
    """Called after each block of lines with how many bytes and lines it had."""
    earlier: Earlier | None = None
    """What the context file gives of a unit lies over this."""
    find: Find | None = None
    """Answers in place of the lines, which are then contexts."""
    seed: int = 0
    """What it draws by."""
    clock: Callable[[], float] = time.monotonic


DEFAULT_OPTIONS: Final = ValidationOptions()


def validate_lines(
    validator: StepValidator,
    lines: Iterable[Line],
    outputs: Outputs,
    *,
    context: Path | None = None,
    options: ValidationOptions = DEFAULT_OPTIONS,
) -> Summary:
    """Check every line and write what becomes of it, in order and in little memory.

    `context`: a file of the units that were asked for, joined by `unit_id`; without it the line is
    the whole unit. Raises `InputError` when lines or context cannot be read.
    """
    with ExitStack() as stack:
        run = _Run(validator, outputs, AskedUnits(context, validator.limits, stack), options)
        for block in _blocks(lines):
            run.check(block)
            if options.on_progress is not None:
                options.on_progress(sum(line.size for line in block), len(block))
        run.report_missing()
        summary = summarise(run.tally, validator, asked=run.asked.count)
    _log(summary, run.tally)
    return summary


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    block: list[Line] = []
    size = 0
    for line in lines:
        block.append(line)
        size += line.size
        if len(block) >= BLOCK_LINES or size >= BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


class _Run:
    """Takes blocks of lines through the checks of a step, one phase after the other."""

    def __init__(
        self,
        validator: StepValidator,
        outputs: Outputs,
        asked: AskedUnits,
        options: ValidationOptions,
    ) -> None:
        self.tally = Tally()
        self.asked = asked
        self._validator, self._outputs, self._options = validator, outputs, options
        self._needs_ids = options.needs_unit_ids or asked.count is not None
        seconds = options.deadline_seconds
        self._deadline = None if seconds is None else options.clock() + seconds

    def check(self, block: Sequence[Line]) -> None:
        """Read lines, join them with their contexts, check them and write what became of them."""
        tally, seconds, clock = self.tally, self.tally.seconds, time.perf_counter
        started = clock()
        units = [self._read(line) for line in block if not line.is_blank]
        tally.lines += len(block)
        tally.blank_lines += len(block) - len(units)
        around = list(map(_surroundings, units))
        read = clock()
        found = list(map(guarded, repeat(self._structure), units, around))
        structured = clock()
        verdicts = list(map(guarded, repeat(self._validator.apply_rules), found, around))
        ruled = clock()
        for unit, verdict in zip(units, verdicts, strict=True):
            unit.verdict = verdict
            self._write(unit)
        seconds["read"] += read - started
        seconds["structure"] += structured - read
        seconds["rules"] += ruled - structured
        seconds["write"] += clock() - ruled

    def report_missing(self) -> None:
        """Write a failure for every unit that was asked for and not answered."""
        for asked in self.asked.unanswered():
            known = self._known(asked.key, asked.context)
            unit = Unit(number=None, unit_id=asked.unit_id, content=None, given=asked.context)
            unit.context, unit.verdict = known, _MISSING
            self._write(unit)

    def _read(self, line: Line) -> Unit:
        validator = self._validator
        try:
            unit = read_unit(
                line,
                limits=validator.limits,
                answers_with=validator.known_fields,
                needs_id=self._needs_ids,
            )
        except Exception as error:  # noqa: BLE001 - one unit must not end the others
            unit = Unit(number=line.number, unit_id=None, content=line.content, is_object=False)
            unit.verdict = internal_error(error)
        self.tally.objects += unit.is_object
        self.tally.unreadable_lines += not unit.is_object
        if unit.key is not None:
            self._join(unit, unit.key)
        return unit

    def _join(self, unit: Unit, key: str) -> None:
        """Give a unit its context, or the reason why its answer is not checked."""
        given = self.asked.take(key)
        if isinstance(given, Verdict):
            self.tally.unexpected += given is NOT_ASKED
            unit.verdict = given
            return
        if self._options.find is not None and unit.answer is not None:
            given = {**(given or {}), **unit.answer}
        unit.given, unit.context = given, self._known(key, given)

    def _known(self, key: str, given: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return what earlier steps found, and over it what the context file gives."""
        earlier = None if self._options.earlier is None else self._options.earlier(key)
        if earlier is None or given is None:
            return given if earlier is None else earlier
        return {**earlier, **given}

    def _structure(self, unit: Unit, around: UnitSurroundings) -> Verdict:
        if unit.verdict is not UNCHECKED:
            return unit.verdict
        if self._deadline is not None and self._options.clock() >= self._deadline:
            return _TOO_LATE
        if self._options.find is not None:
            # Expressions answer for the unit, and that is checked like a model's answer.
            unit.answer = unit.written = unit.content = unit.text = None
            found = self._options.find(around.inputs, unit.key or "", seed=self._options.seed)
            if isinstance(found, Verdict):
                return found
            unit.answer, unit.text = found, json.dumps(found, ensure_ascii=False)
        if unit.answer is not None:
            return self._validator.structure(unit.answer, around)
        return self._validator.text_structure(unit.text or "", around)

    def _write(self, unit: Unit) -> None:
        self.tally.count(unit, self._validator)
        self._outputs.write(unit, self._validator)
        if self._options.on_unit is not None:
            self._options.on_unit(unit)


def _surroundings(unit: Unit) -> UnitSurroundings:
    context, meta = unit.context, dict[str, object]()
    if unit.host:
        metadata = unit.host.get(METADATA)
        meta = dict(metadata) if isinstance(metadata, dict) else meta
        meta |= {METADATA: metadata} if METADATA in unit.host else {}
        hidden = {name: value for name, value in unit.host.items() if name not in _KNOWN_OTHERWISE}
        context = {**hidden, **(context or {})}
    if unit.unit_id is not None:
        meta[UNIT_ID] = unit.unit_id
    meta[RETRY_COUNT] = unit.retry_count
    return UnitSurroundings.of(context, meta)


_KNOWN_OTHERWISE: Final = SET_ASIDE | {RETRY_COUNT}
"""The host's fields that rules know as `meta`, and the model's own words."""
_MISSING: Final = refusal(FailureStage.MISSING, "missing", "the unit was asked for, not answered")
_TOO_LATE: Final = refusal(
    FailureStage.PIPELINE_INTERNAL,
    "deadline_exceeded",
    "the step's deadline had passed before this unit was checked",
)


def _log(summary: Summary, tally: Tally) -> None:
    """Log the two phases of a run."""
    broken_rules = tally.stages[FailureStage.VALIDATION]
    for event, count, failures, phase in (
        (
            "schema_validation_finished",
            summary.valid + broken_rules,
            tally.failed_lines - broken_rules,
            "structure",
        ),
        ("rule_validation_finished", summary.valid, broken_rules, "rules"),
    ):
        duration_ms = round(1000 * tally.seconds[phase], 1)
        logger.info(
            event, name=summary.step, count=count, failures=failures, duration_ms=duration_ms
        )
