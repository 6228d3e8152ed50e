"""No expression step takes memory or time beyond a bound, whatever it is written like."""

import resource
import time
from collections.abc import Mapping

import pytest

from ai_psychiatrist.validation.expressions import (
    EvaluationFailed,
    ExpressionRefused,
    compile_procedure,
)

UNIT: Mapping[str, object] = {
    "n": 10**7,
    "word": "x",
    "hundred": list(range(100)),
    "many": list(range(5_000)),
    "same": list(range(5_000)),
    "text": "a" * 900_000,
}
MOST_CPU_SECONDS = 20.0
"""An order of magnitude above what the slowest took, on a machine that was busy."""
MOST_MEGABYTES = 200.0


def many(source: str, count: int) -> dict[str, str]:
    return {f"e{number}": source for number in range(count)}


@pytest.mark.parametrize(
    ("sources", "kind"),
    [
        ({"a": "[1] * 3 * 10000000"}, "budget"),
        ({"a": "[1] * n"}, "budget"),
        ({"a": "word * n"}, "wrong_type"),
        ({"a": "[[[0] * 10000] * 10000] * 10000"}, "budget"),
        ({"a": "[1 for x in range(1000) for y in range(1000)]"}, "budget"),
        ({"a": "[random.sample(range(90000), 1) for i in many]"}, "budget"),
        ({"a": "random.sample(range(10000000000), 3)"}, "budget"),
        ({"a": "random.sample(hundred, n)"}, "wrong_type"),
        ({"a": "[f'{text}{i}' for i in range(100000)]"}, "budget"),
        ({"a": "[text + str(i) for i in range(100000)]"}, "budget"),
        ({"a": "[list(set(many)) for i in many]"}, "budget"),
        ({"a": "text + text"}, "budget"),
        (many("text", 3_000), "budget"),
        (many("[f'{text}{i}' for i in range(20)][0][0:1]", 1_000), "budget"),
        (many("len([text.lower() for i in range(20)])", 1_000), "budget"),
    ],
)
def test_one_round_is_bounded(sources: Mapping[str, str], kind: str) -> None:
    assert outcome({}, sources, loop_until=None) == kind


@pytest.mark.parametrize(
    ("start", "sources", "kind"),
    [
        ("3", {"x": "x * x"}, "arithmetic"),
        ("'ab'", {"x": "x + x"}, "budget"),
        ("'ab'", {"x": "f'{x}{x}'"}, "budget"),
        ("[1, 2]", {"x": "x + x"}, "budget"),
        ("[0] * 10000", {"x": "x * 2"}, "budget"),
        ("[1, 2]", {"x": "[x, x]"}, "budget"),
        ("[1]", {"x": "[x]"}, "budget"),
        ("{'a': 1}", {"x": "{'a': x, 'b': x}"}, "budget"),
        ("(1, 2)", {"x": "(x, x)", "y": "{x: 1}"}, "wrong_type"),
        ("0", {"x": "x + 1"}, "endless_loop"),
        ("0", many("1", 2_000), "budget"),
        ("0", many("+".join(["n"] * 70), 300), "budget"),
        ("0", many(" and ".join(["many == same"] * 20), 300), "budget"),
        ("0", {"y": "random.sample(range(90000), 90000)"}, "budget"),
    ],
)
def test_loop_is_bounded(start: str, sources: Mapping[str, str], kind: str) -> None:
    assert outcome({"x": start}, sources, loop_until="False") == kind


def outcome(init: Mapping[str, str], sources: Mapping[str, str], *, loop_until: str | None) -> str:
    """Return the kind of the failure, once time and memory were within their bounds."""
    ran = compile_procedure(
        init=init, expressions=sources, loop_until=loop_until, max_iterations=10_000
    )
    before, started = peak_megabytes(), time.process_time()
    with pytest.raises(EvaluationFailed) as caught:
        ran.run(UNIT, seed=0, step="step", unit_id="u1")
    assert time.process_time() - started < MOST_CPU_SECONDS
    assert peak_megabytes() - before < MOST_MEGABYTES
    return caught.value.kind


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


@pytest.mark.parametrize("name", ["names", "scope", "op_add", "fn_len", "random", "each_x", "x"])
def test_nothing_of_the_machinery_has_a_name(name: str) -> None:
    ran = compile_procedure(
        init={"seen": "[x for x in [1]]"},
        expressions={"a": name},
        loop_until=None,
        max_iterations=None,
    )
    with pytest.raises(EvaluationFailed, match="unknown_name"):
        ran.run({}, seed=0, step="step", unit_id="u1")


@pytest.mark.parametrize("source", ["'a' * 1000000000", "f'{x:99999999}'", "[0] * 99999"])
def test_what_is_written_out_is_refused_before_any_data_is_read(source: str) -> None:
    with pytest.raises(ExpressionRefused):
        compile_procedure(init={}, expressions={"a": source}, loop_until=None, max_iterations=None)
