"""Take blocks of lines through a step's checks, phase by phase, and write what became of them."""

import gc
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, repeat
from typing import Final

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.expression_step import Find
from ai_psychiatrist.validation.checks.host_fields import METADATA, RETRY_COUNT, SET_ASIDE, UNIT_ID
from ai_psychiatrist.validation.checks.refusals import guarded, internal_error, refusal
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.unit_surroundings import UnitSurroundings
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.jsonl.context import Asked
from ai_psychiatrist.validation.jsonl.join import ContextJoin
from ai_psychiatrist.validation.jsonl.lines import Line
from ai_psychiatrist.validation.jsonl.options import DEFAULT_OPTIONS, ValidationOptions
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.records import (
    coercion_lines,
    failure_line,
    following_line,
    valid_line,
)
from ai_psychiatrist.validation.jsonl.tally import Tally
from ai_psychiatrist.validation.jsonl.unit import Unit, UnitOutcome, read_unit
from ai_psychiatrist.validation.jsonl.unit_ids import UnitIds, id_digest

BLOCK_LINES: Final = 32
"""What so many lines become still lies in the processor's cache when it is written."""
BLOCK_BYTES: Final = 1_000_000


def blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield the lines in blocks of bounded number and size."""
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


class UnitChecker:
    """Checks blocks of lines, in order, and counts and writes what becomes of each."""

    def __init__(
        self,
        validator: StepValidator,
        outputs: Outputs,
        *,
        join: ContextJoin | None = None,
        answered: UnitIds | None = None,
        deadline: float | None = None,
        options: ValidationOptions = DEFAULT_OPTIONS,
    ) -> None:
        """`deadline`: the clock's time from which on no answer is checked any more."""
        self.tally = Tally()
        self.answered = UnitIds() if answered is None else answered
        self._validator, self._outputs, self._join = validator, outputs, join
        self._deadline = deadline
        self._earlier, self._on_outcome = options.earlier, options.on_outcome
        self._find, self._clock = options.find, options.clock
        self._needs_ids = options.needs_unit_ids or join is not None

    def check(self, block: Sequence[Line]) -> None:
        """Check a block of lines."""
        with _garbage_kept():
            self._check(block)

    def _check(self, block: Sequence[Line]) -> None:
        tally, clock = self.tally, time.perf_counter
        started = clock()
        units = [self._joined(line) for line in block if self._holds_something(line)]
        around = list(map(_surroundings, units))
        read = clock()
        found = list(map(self._structure, units, around))
        structured = clock()
        apply_rules = self._validator.apply_rules
        verdicts = list(map(guarded, repeat(apply_rules), found, around))
        ruled = clock()
        self._write(map(UnitOutcome, units, verdicts))
        tally.read_seconds += read - started
        tally.structure_seconds += structured - read
        tally.rules_seconds += ruled - structured
        tally.write_seconds += clock() - ruled

    def report_missing(self, asked: Iterable[Asked]) -> None:
        """Write a failure for every unit that was asked for and not answered."""
        following = iter(asked)
        while block := list(islice(following, BLOCK_LINES)):
            self._write(map(self._missing, block))

    def _holds_something(self, line: Line) -> bool:
        self.tally.lines += 1
        if line.content is not None and not line.content.strip():
            self.tally.blank_lines += 1
            return False
        return True

    def _joined(self, line: Line) -> Unit:
        """Return the unit of a line with its context, or with why its answer is not checked."""
        unit = self._read(line)
        self.tally.objects += unit.is_object
        self.tally.unreadable_lines += not unit.is_object
        if unit.key is None:
            return unit
        if not self.answered.add(id_digest(unit.key)):
            unit.refusal = _DUPLICATE
            return unit
        if self._join is not None:
            asked = self._join.take(unit.key)
            if asked is None:
                self.tally.unexpected += 1
                unit.refusal = _NOT_ASKED
                return unit
            unit.given = asked.context
        if self._find is not None and unit.answer is not None:
            unit.given = {**(unit.given or {}), **unit.answer}
        unit.context = self._known(unit.key, unit.given)
        return unit

    def _known(self, key: str, given: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return what earlier steps found, and over it what the context file gives."""
        earlier = None if self._earlier is None else self._earlier(key)
        if earlier is None or given is None:
            return given if earlier is None else earlier
        return {**earlier, **given}

    def _missing(self, asked: Asked) -> UnitOutcome:
        known = self._known(asked.key, asked.context)
        unit = Unit(
            number=None, unit_id=asked.unit_id, content=None, context=known, given=asked.context
        )
        return UnitOutcome(unit, _MISSING)

    def _read(self, line: Line) -> Unit:
        validator = self._validator
        try:
            return read_unit(
                line,
                limits=validator.limits,
                answers_with=validator.known_fields,
                needs_id=self._needs_ids,
            )
        except Exception as error:  # noqa: BLE001 - one unit must not end the others
            return Unit(
                number=line.number,
                unit_id=None,
                content=line.content,
                is_object=False,
                refusal=internal_error(error),
            )

    def _structure(self, unit: Unit, around: UnitSurroundings) -> Verdict:
        if unit.refusal is not None:
            return unit.refusal
        if self._deadline is not None and self._clock() >= self._deadline:
            return _TOO_LATE
        if self._find is not None:
            return guarded(self._found, self._find, unit, around)
        if unit.answer is not None:
            return guarded(self._validator.structure, unit.answer, around)
        return guarded(self._validator.text_structure, unit.text or "", around)

    def _found(self, find: Find, unit: Unit, around: UnitSurroundings) -> Verdict:
        """Let expressions answer for a unit, and check that like a model's answer."""
        unit.answer = unit.written = unit.content = unit.text = None
        found = find(around.inputs, unit.key or "")
        if isinstance(found, Verdict):
            return found
        unit.answer, unit.text = found, json.dumps(found, ensure_ascii=False)
        return self._validator.structure(found, around)

    def _write(self, outcomes: Iterable[UnitOutcome]) -> None:
        valid: list[bytes] = []
        failures: list[bytes] = []
        coercions: list[bytes] = []
        following: list[bytes] = []
        for outcome in outcomes:
            self.tally.count(outcome, self._validator.field_of)
            if outcome.verdict.is_valid:
                valid.append(valid_line(outcome))
                if self._outputs.following is not None:
                    following.append(following_line(outcome, self._validator))
            else:
                failures.append(failure_line(outcome))
            if outcome.verdict.coercions and self._outputs.coercions is not None:
                coercions.extend(coercion_lines(outcome))
            if self._on_outcome is not None:
                self._on_outcome(outcome)
        self._outputs.valid.write(b"".join(valid))
        self._outputs.failures.write(b"".join(failures))
        if self._outputs.coercions is not None:
            self._outputs.coercions.write(b"".join(coercions))
        if self._outputs.following is not None:
            self._outputs.following.write(b"".join(following))


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Look for no reference cycles: a block has many objects and leaves no cycle behind."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


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
    return UnitSurroundings(context, meta)


_KNOWN_OTHERWISE: Final = SET_ASIDE | {RETRY_COUNT}
"""The host's fields that rules know as `meta`, and the model's own words."""


_MISSING: Final = refusal(FailureStage.MISSING, "missing", "the unit was asked for, not answered")
_DUPLICATE: Final = refusal(
    FailureStage.DUPLICATE, "duplicate", "the unit was answered on an earlier line, which counts"
)
_NOT_ASKED: Final = refusal(
    FailureStage.PIPELINE_INTERNAL, "not_asked", "the context asks for no such unit"
)
_TOO_LATE: Final = refusal(
    FailureStage.PIPELINE_INTERNAL,
    "deadline_exceeded",
    "the step's deadline had passed before this unit was checked",
)
