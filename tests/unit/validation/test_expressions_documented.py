"""The page tells every bound of expressions as the code has it."""

from pathlib import Path

import pytest

from ai_psychiatrist.validation.expressions import (
    compiler,
    expression,
    functions,
    operations,
    procedure,
    syntax,
)

PAGE = Path(__file__).parents[3] / "docs" / "validation.md"
BOUNDS = {
    "steps": f"{expression.UNIT_STEPS:,} steps of work",
    "characters of a step": f"{operations.CHARACTERS_PER_STEP} characters",
    "written": f"{syntax.MAX_CHARACTERS:,} characters, {syntax.MAX_BRACKETS} brackets",
    "loops": f"| loops inside one another | {compiler.MAX_LOOPS} |",
    "whole numbers": f"{operations.MAX_BITS:,} bits",
    "numerals": f"{functions.MAX_NUMERAL} characters",
    "steps of a procedure": f"{procedure.PROCEDURE_STEPS:,} steps of work",
    "elements known": f"{expression.UNIT_STEPS:,} elements",
    "characters known": f"{expression.UNIT_STEPS * procedure.CHARACTERS_PER_STEP / 1e6} million",
    "levels": f"{procedure.MAX_DEPTH} levels",
    "filled in": f"{operations.MAX_FILLED_IN:,} characters",
    "repeated": f"{operations.MAX_REPEATED:,} elements",
    "rounds": f"{procedure.DEFAULT_ITERATIONS:,}; at most {procedure.MOST_ITERATIONS:,}",
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_page_tells_the_bound(bound: str) -> None:
    section = PAGE.read_text(encoding="utf-8").partition("\n## Expressions\n")[2]
    assert BOUNDS[bound] in section
