"""Run a step's checks over lines in memory and read the outputs back."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ai_psychiatrist.validation.checks.rules import RuleSpec
from ai_psychiatrist.validation.checks.step_config import RuleBlock, StepConfig
from ai_psychiatrist.validation.checks.step_validator import DEFAULT_LIMITS, StepValidator
from ai_psychiatrist.validation.jsonl.lines import LONGEST_LINE_BYTES, read_lines
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.run import (
    DEFAULT_OPTIONS,
    ValidationOptions,
    validate_lines,
)
from ai_psychiatrist.validation.jsonl.summary import Summary
from ai_psychiatrist.validation.reply.limits import ParseLimits

STEP = StepConfig(
    name="s1",
    scope="llm",
    schema={
        "type": "object",
        "required": ["score"],
        "additionalProperties": False,
        "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 3}, "note": {}},
    },
    rules=RuleBlock(rules=(RuleSpec(name="positive", expr="score >= 1", error="score {score}"),)),
)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a run wrote."""

    summary: Summary
    valid: bytes
    failures: bytes
    coercions: bytes

    @property
    def kept(self) -> list[dict[str, Any]]:
        """The valid units."""
        return [json.loads(line) for line in self.valid.splitlines()]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The failure records."""
        return [json.loads(line) for line in self.failures.splitlines()]

    @property
    def told(self) -> list[tuple[object, str, str]]:
        """Unit, stage and rule of every error."""
        return [
            (record["unit_id"], record["failure_stage"], error["rule"])
            for record in self.failed
            for error in record["errors"]
        ]


def unit(unit_id: object, score: object = 2, **more: object) -> str:
    """Return a line."""
    return json.dumps({"unit_id": unit_id, "score": score, **more}, ensure_ascii=False)


def run_bytes(
    data: bytes,
    *,
    step: StepConfig = STEP,
    context: Path | None = None,
    options: ValidationOptions = DEFAULT_OPTIONS,
    limits: ParseLimits = DEFAULT_LIMITS,
    longest: int = LONGEST_LINE_BYTES,
) -> Ran:
    """Validate bytes and check that the account balances."""
    outputs = Outputs(valid=io.BytesIO(), failures=io.BytesIO(), coercions=io.BytesIO())
    validator = StepValidator(step, limits=limits)
    lines = read_lines(io.BytesIO(data), longest=longest)
    summary = validate_lines(validator, lines, outputs, context=context, options=options)
    assert summary.is_balanced
    valid, failures, coercions = (
        stream.getvalue()
        for stream in (outputs.valid, outputs.failures, outputs.coercions)
        if isinstance(stream, io.BytesIO)
    )
    assert summary.valid == valid.count(b"\n")
    assert summary.failure_records == failures.count(b"\n")
    assert summary.coercions == coercions.count(b"\n")
    return Ran(summary=summary, valid=valid, failures=failures, coercions=coercions)


def run_lines(lines: Sequence[str], **options: Any) -> Ran:
    """Validate lines of text."""
    return run_bytes("\n".join(lines).encode("utf-8"), **options)
