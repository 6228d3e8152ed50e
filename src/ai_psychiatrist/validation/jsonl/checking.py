"""Take blocks of lines through a step's checks, phase by phase, and write what became of them."""

import gc
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ai_psychiatrist.validation.checks.host_fields import METADATA, RETRY_COUNT, SET_ASIDE, UNIT_ID
from ai_psychiatrist.validation.checks.refusals import refusal
from ai_psychiatrist.validation.checks.step import (
    StepValidator,
    StructureFinding,
    Surroundings,
    internal_error,
)
from ai_psychiatrist.validation.checks.verdict import FailureStage, Verdict
from ai_psychiatrist.validation.jsonl.context import Asked
from ai_psychiatrist.validation.jsonl.join import ContextJoin
from ai_psychiatrist.validation.jsonl.lines import Line
from ai_psychiatrist.validation.jsonl.options import DEFAULT_OPTIONS, RunOptions
from ai_psychiatrist.validation.jsonl.outcome import Outcome
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.records import (
    coercion_lines,
    failure_line,
    following_line,
    valid_line,
)
from ai_psychiatrist.validation.jsonl.tally import Tally
from ai_psychiatrist.validation.jsonl.unit import Unit, read_unit
from ai_psychiatrist.validation.jsonl.unit_index import SeenIds, id_digest

BLOCK_LINES: Final = 256
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A unit under way."""

    unit: Unit
    context: Mapping[str, object] | None = None
    given: Mapping[str, object] | None = None
    refusal: Verdict | None
    """Set when the answer is not to be checked."""


class UnitChecker:
    """Checks blocks of lines, in order, and counts and writes what becomes of each."""

    def __init__(
        self,
        validator: StepValidator,
        outputs: Outputs,
        *,
        join: ContextJoin | None = None,
        seen: SeenIds | None = None,
        new_ids: bytearray | None = None,
        deadline: float | None = None,
        options: RunOptions = DEFAULT_OPTIONS,
    ) -> None:
        """`new_ids` takes the digests of the units that come first here, one after the other.

        `deadline`: the clock's time from which on no answer is checked any more.
        """
        self.tally = Tally()
        self.seen = SeenIds() if seen is None else seen
        self._validator, self._outputs, self._join = validator, outputs, join
        self._new_ids, self._deadline = new_ids, deadline
        self._earlier, self._on_outcome = options.earlier, options.on_outcome
        self._clock = options.clock
        self._needs_ids = options.needs_unit_ids or join is not None

    def check(self, block: Sequence[Line]) -> None:
        """Check a block of lines."""
        with _garbage_kept():
            self._check(block)

    def _check(self, block: Sequence[Line]) -> None:
        seconds, started = self.tally.seconds, time.perf_counter()
        cases = [self._case(line) for line in block if self._holds_something(line)]
        around = [_surroundings(case) for case in cases]
        read = time.perf_counter()
        findings = list(map(self._structure, cases, around))
        structured = time.perf_counter()
        verdicts = list(map(self._verdict, findings, around))
        ruled = time.perf_counter()
        self._write(
            Outcome(unit=case.unit, context=case.context, given=case.given, verdict=verdict)
            for case, verdict in zip(cases, verdicts, strict=True)
        )
        seconds.read += read - started
        seconds.structure += structured - read
        seconds.rules += ruled - structured
        seconds.write += time.perf_counter() - ruled

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

    def _case(self, line: Line) -> _Case:
        unit = self._read(line)
        self.tally.objects += unit.is_object
        self.tally.unreadable_lines += not unit.is_object
        if unit.key is None:
            return _Case(unit=unit, refusal=unit.refusal)
        digest = id_digest(unit.key)
        if not self.seen.add(digest):
            return _Case(unit=unit, refusal=_DUPLICATE)
        if self._new_ids is not None:
            self._new_ids += digest
        if self._join is None:
            return _Case(unit=unit, context=self._known(unit.key, None), refusal=unit.refusal)
        asked = self._join.take(unit.key)
        if asked is None:
            self.tally.unexpected += 1
            return _Case(unit=unit, refusal=_NOT_ASKED)
        known = self._known(unit.key, asked.context)
        return _Case(unit=unit, context=known, given=asked.context, refusal=unit.refusal)

    def _known(self, key: str, given: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return what earlier steps found, and over it what the context file gives."""
        earlier = None if self._earlier is None else self._earlier(key)
        if earlier is None or given is None:
            return given if earlier is None else earlier
        return {**earlier, **given}

    def _missing(self, asked: Asked) -> Outcome:
        unit = Unit(number=None, unit_id=asked.unit_id, content=None)
        known = self._known(asked.key, asked.context)
        return Outcome(unit=unit, context=known, given=asked.context, verdict=_MISSING)

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
            refused = internal_error(error)
            return Unit(
                number=line.number,
                unit_id=None,
                content=line.content,
                is_object=False,
                refusal=refused,
            )

    def _structure(self, case: _Case, around: Surroundings) -> StructureFinding | Verdict:
        if case.refusal is not None:
            return case.refusal
        if self._deadline is not None and self._clock() >= self._deadline:
            return _TOO_LATE
        unit = case.unit
        try:
            if unit.answer is not None:
                return self._validator.check_structure(unit.answer, around)
            return self._validator.check_text(
                unit.text or "", context=around.context, meta=around.meta
            )
        except Exception as error:  # noqa: BLE001 - one unit must not end the others
            return internal_error(error)

    def _verdict(self, finding: StructureFinding | Verdict, around: Surroundings) -> Verdict:
        if isinstance(finding, Verdict):
            return finding
        try:
            return self._validator.check_rules(finding, around)
        except Exception as error:  # noqa: BLE001 - one unit must not end the others
            return internal_error(error)

    def _write(self, outcomes: Iterable[Outcome]) -> None:
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


def _surroundings(case: _Case) -> Surroundings:
    unit = case.unit
    context, meta = case.context or {}, dict[str, object]()
    if unit.host:
        metadata = unit.host.get(METADATA)
        meta = dict(metadata) if isinstance(metadata, dict) else meta
        meta |= {METADATA: metadata} if METADATA in unit.host else {}
        hidden = {name: held for name, held in unit.host.items() if name not in _KNOWN_OTHERWISE}
        context = {**hidden, **context}
    if unit.unit_id is not None:
        meta[UNIT_ID] = unit.unit_id
    meta[RETRY_COUNT] = unit.retry_count
    return Surroundings(context=context, meta=meta)


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
