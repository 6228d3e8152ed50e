"""Damaged files: every line and every unit that was asked for is accounted for exactly once."""

import io
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from tests.fakes.damaged_lines import BYTE_ORDER_MARK, LONGEST_LINE, MadeFile, made_file
from tests.sweeps import DAMAGED_FILES

from ai_psychiatrist.validation.checks.rules import RuleSpec
from ai_psychiatrist.validation.checks.step_config import RuleBlock, StepConfig
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.jsonl.lines import read_lines
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.run import ValidationOptions, validate_lines
from ai_psychiatrist.validation.jsonl.summary import Summary
from ai_psychiatrist.validation.jsonl.unit import Unit
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

VALIDATORS = [
    StepValidator(STEP, limits=ParseLimits(max_depth=200, keeps_last_key=keeps_last))
    for keeps_last in (False, True)
]
BESIDE = {"duplicate", "not_asked"}
"""Rules of records that are beside the account of units."""


class Run:
    """A file through the checks, with what was told of each line."""

    def __init__(self, made: MadeFile, validator: StepValidator, context: Path | None) -> None:
        self.units: list[Unit] = []
        valid, failures = io.BytesIO(), io.BytesIO()
        options = ValidationOptions(on_unit=self.units.append)
        self.summary: Summary = validate_lines(
            validator,
            read_lines(io.BytesIO(made.data), longest=LONGEST_LINE),
            Outputs(valid=valid, failures=failures),
            context=context,
            options=options,
        )
        self.valid = [json.loads(line) for line in valid.getvalue().splitlines()]
        self.failures = [json.loads(line) for line in failures.getvalue().splitlines()]

    def counted_keys(self) -> Counter[str | None]:
        """Return how often each unit stands in the account of units."""
        return Counter(
            unit.key
            for unit in self.units
            if not {error.rule for error in unit.verdict.errors} & BESIDE and unit.key is not None
        )


def physical_lines(data: bytes) -> dict[int, bytes]:
    """Return the lines that hold something by their numbers, told apart without our reader."""
    parts = data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    return {number: part for number, part in enumerate(parts, 1) if part.strip()}


def check_lines(made: MadeFile, run: Run) -> None:
    lines = physical_lines(made.data)
    told = Counter(one.number for one in run.units if one.number is not None)
    assert told == Counter(list(lines))
    numbers = [record["line"] for record in run.failures if record["line"] is not None]
    assert len(run.valid) + len(numbers) == len(lines)
    assert set(numbers) <= set(lines)
    summary = run.summary
    assert summary.is_balanced
    assert summary.lines - summary.blank_lines == len(lines)
    assert summary.objects + summary.unreadable_lines == len(lines)


def check_units(made: MadeFile, run: Run) -> None:
    # A mark inside a line ends none, so that lines are as they were made.
    by_number = dict(enumerate(made.lines, 1))
    for unit in run.units:
        if unit.number is None:
            continue
        line = by_number[unit.number]
        rules = {error.rule for error in unit.verdict.errors}
        if unit.verdict.is_valid:
            assert line.may_be_valid, line
        if line.has_sure_id and unit.key is not None:
            assert unit.key in {str(unit_id) for unit_id in line.ids}, line
        if line.is_intact:
            assert unit.key == str(line.ids[0])
            assert unit.verdict.stage != "parse", (line, rules)
        if not line.may_be_valid and not rules & BESIDE:
            assert unit.verdict.stage == "parse", (line, rules)


@pytest.mark.sweep
def test_every_line_and_every_asked_unit_is_accounted_for_exactly_once(
    tmp_path: Path, is_whole: bool
) -> None:
    context = tmp_path / "context.jsonl"
    for seed in range(DAMAGED_FILES.size(is_whole=is_whole)):
        choose = random.Random(seed)  # noqa: S311 - repeatable
        made = made_file(choose)
        validator = VALIDATORS[seed % 2]
        alone = Run(made, validator, None)
        check_lines(made, alone)
        check_units(made, alone)
        assert max(alone.counted_keys().values(), default=1) == 1
        named = {str(unit_id): unit_id for line in made.lines for unit_id in line.ids}
        asked = [*named.values(), "never answered"]
        choose.shuffle(asked)
        asked = asked[choose.randint(0, 1) :]
        context.write_text("".join(json.dumps({"unit_id": one}) + "\n" for one in asked), "utf-8")
        joined = Run(made, validator, context)
        check_lines(made, joined)
        check_units(made, joined)
        assert joined.counted_keys() == Counter(map(str, asked)), seed
        assert joined.summary.requested == len(asked)
        assert joined.summary.valid + joined.summary.failed == len(asked)
