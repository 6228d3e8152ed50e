"""Expression steps: what they find in a unit, how it depends on chance, and where they stop."""

import builtins
import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
import yaml

from ai_psychiatrist.validation.expressions import (
    EvaluationFailed,
    ExpressionRefused,
    Procedure,
    compile_procedure,
)

CARDS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]


def procedure(
    *,
    init: Mapping[str, str] | None = None,
    loop_until: str | None = None,
    max_iterations: int | None = None,
    **expressions: str,
) -> Procedure:
    return compile_procedure(
        init=init or {},
        expressions=expressions,
        loop_until=loop_until,
        max_iterations=max_iterations,
    )


def found(ran: Procedure, context: Mapping[str, object] | None = None) -> dict[str, object]:
    return ran.run(context or {}, seed=0, step="step", unit_id="u1")


def failure(ran: Procedure, context: Mapping[str, object] | None = None) -> EvaluationFailed:
    with pytest.raises(EvaluationFailed) as caught:
        found(ran, context)
    return caught.value


def test_expressions_see_those_before_and_locals_are_not_handed_on() -> None:
    ran = procedure(
        _deck="['a', 'b'] * 2", count="len(_deck)", note="f'{count} of {n}: {_deck[1]}'"
    )

    assert found(ran, {"n": 7}) == {"count": 4, "note": "4 of 7: b"}


def test_loop_ends_after_the_round_in_which_its_condition_holds() -> None:
    ran = procedure(
        init={"total": "start", "path": "[start]"},
        total="total + 2",
        path="path + [total]",
        loop_until="total >= 7",
    )

    assert found(ran, {"start": 1}) == {"total": 7, "path": [1, 3, 5, 7]}
    assert found(ran, {"start": 100}) == {"total": 102, "path": [100, 102]}


def test_loop_that_does_not_end_fails_the_unit() -> None:
    ran = procedure(init={"n": "0"}, n="n + 1", loop_until="n > 5", max_iterations=5)

    problem = failure(ran)
    assert (problem.kind, problem.field) == ("endless_loop", "loop_until")
    assert found(procedure(init={"n": "0"}, n="n + 1", loop_until="n > 4", max_iterations=5)) == {
        "n": 5
    }


def test_loop_has_1000_rounds_where_nothing_else_is_written() -> None:
    def counting(last: int) -> Procedure:
        return procedure(init={"n": "0"}, n="n + 1", loop_until=f"n >= {last}")

    assert found(counting(1_000)) == {"n": 1_000}
    assert failure(counting(1_001)).kind == "endless_loop"


def test_unit_and_context_are_read_and_left_alone() -> None:
    context: dict[str, object] = {"path": [1], "words": {"a": [2]}}
    ran = procedure(path="path + [2]", words="words", whose="unit_id")

    result = found(ran, context)

    assert result == {"path": [1, 2], "words": {"a": [2]}, "whose": "u1"}
    assert context == {"path": [1], "words": {"a": [2]}}
    assert result["words"] is not context["words"]


def test_what_is_handed_on_is_json() -> None:
    ran = procedure(
        _by_number="{1: 'one', 2: 'two'}",
        word="_by_number[2]",
        pair="(1, 'x')",
        span="range(3)",
        names="words.keys()",
        pairs="words.items()",
    )

    assert json.loads(json.dumps(found(ran, {"words": {"a": 1}}))) == {
        "word": "two",
        "pair": [1, "x"],
        "span": [0, 1, 2],
        "names": ["a"],
        "pairs": [["a", 1]],
    }


@pytest.mark.parametrize(
    ("source", "kind", "name"),
    [
        ("nowhere + 1", "unknown_name", "nowhere"),
        ("words['b']", "missing_key", "b"),
        ("words[secret]", "missing_key", "words"),
        ("secret + 1", "wrong_type", "secret"),
        ("n / 0", "arithmetic", "n"),
        ("sum([huge, huge])", "arithmetic", "huge"),
        ("set(cards)", "wrong_type", "cards"),
        ("{1: 'one'}", "wrong_type", None),
        ("random.choice([])", "missing_key", None),
        ("random.sample(cards, 3)", "wrong_type", "cards"),
        ("random.sample(words, 1)", "wrong_type", "words"),
        ("cards * secret", "wrong_type", "cards"),
        ("f'{cards}'", "wrong_type", "cards"),
    ],
)
def test_failure_names_field_and_place_and_no_value(
    source: str, kind: str, name: str | None
) -> None:
    context = {"secret": "whisper", "n": 1, "cards": ["a", "b"], "words": {"a": 1}, "huge": 1.7e308}

    problem = failure(procedure(first="1", second=source), context)

    assert (problem.kind, problem.name, problem.field) == (kind, name, "second")
    assert "whisper" not in f"{problem}{problem!r}"
    assert problem.__context__ is None or problem.__suppress_context__


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"a": "1", "b": "open('x')"}, r"^expressions\.b: calling 'open' is not allowed"),
        ({"init": {"c": "x.y"}, "a": "1"}, r"^init\.c: reading an attribute"),
        ({"a": "1", "loop_until": "2 ** 3"}, r"^loop_until: "),
        ({"a": "1", "loop_until": "True", "max_iterations": 10_001}, r"^max_iterations: "),
        ({"a": "1", "loop_until": "True", "max_iterations": 0}, r"^max_iterations: "),
    ],
)
def test_refusal_names_the_expression(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ExpressionRefused, match=message):
        procedure(**settings)


DEALING = procedure(hand="random.sample(cards, 3)", first="random.choice(hand)")


def dealt(seed: int, step: str, unit_id: str) -> dict[str, object]:
    return DEALING.run({"cards": CARDS}, seed=seed, step=step, unit_id=unit_id)


def generator_of(digested: bytes) -> random.Random:
    return random.Random(int.from_bytes(hashlib.sha256(digested).digest(), "big"))  # noqa: S311


def test_random_numbers_begin_with_the_digest_of_seed_step_and_unit() -> None:
    """The hand was written down once: no machine and no version of Python may deal another."""
    own = generator_of(b'[1,"deal","u1"]')
    hand = own.sample(CARDS, 3)

    assert dealt(1, "deal", "u1") == {"hand": hand, "first": own.choice(hand)}
    assert hand == ["Q", "9", "2"]


def test_chance_depends_on_seed_step_and_unit_alone() -> None:
    assert dealt(2, "deal", "u1") != dealt(1, "deal", "u1")
    units = [f"u{n}" for n in range(50)]
    forwards = [dealt(1, "deal", unit) for unit in units]
    backwards = [dealt(1, "deal", unit) for unit in reversed(units)]
    assert forwards == backwards[::-1]
    assert len({str(one) for one in forwards}) > 40
    assert [dealt(1, "other", unit) for unit in units] != forwards


def test_names_and_numbers_do_not_run_into_each_other() -> None:
    many = [dealt(1, "a", '","b'), dealt(1, 'a","', "b"), dealt(11, "a", "b"), dealt(1, "1a", "b")]

    assert len({str(one) for one in many}) == len(many)


def test_order_of_a_set_is_the_same_in_every_process() -> None:
    program = """
import sys
from ai_psychiatrist.validation.expressions import compile_procedure
ran = compile_procedure(
    init={}, loop_until=None, max_iterations=None,
    expressions={"s": "list(set(words))", "w": "[w for w in set(words)]",
                 "c": "random.choice(list(set(words)))"},
)
print(ran.run({"words": list("unordered")}, seed=1, step="s", unit_id="u"))
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2, 3)
    }

    assert len(printed) == 1


class _PythonsOwn:
    """What Python itself makes of a step, with the same random numbers."""

    allowed = ("len", "sum")

    def __init__(self, step: Mapping[str, Any]) -> None:
        self.rounds = step.get("max_iterations", 1)
        self.init = self._compiled(step.get("init", {}))
        self.expressions = self._compiled(step["expressions"])
        self.ends = compile(step.get("loop_until", "True"), "step", "eval")

    @staticmethod
    def _compiled(sources: Mapping[str, str]) -> dict[str, CodeType]:
        return {name: compile(source, "step", "eval") for name, source in sources.items()}

    def run(self, context: Mapping[str, object], generator: random.Random) -> dict[str, object]:
        known = {name: getattr(builtins, name) for name in self.allowed}
        names = {"__builtins__": known, "random": generator, **context}
        for name, code in self.init.items():
            names[name] = eval(code, names)  # noqa: S307
        for _ in range(self.rounds):
            for name, code in self.expressions.items():
                names[name] = eval(code, names)  # noqa: S307
            if eval(self.ends, names):  # noqa: S307
                break
        own = (*self.init, *self.expressions)
        return {name: names[name] for name in own if not name.startswith("_")}


def published(public_data: Path, pipeline: str, step: str) -> dict[str, Any]:
    text = (public_data / "octobatch" / pipeline / "config.yaml").read_text("utf-8")
    steps: list[dict[str, Any]] = yaml.safe_load(text)["pipeline"]["steps"]
    return next(one for one in steps if one["name"] == step)


def played(choose: random.Random) -> dict[str, object]:
    """Return a hand as the steps before would have left it, plausible or not."""
    strategies = ["The Coward", "The Pro", "The Gambler"]
    return {
        "strategy_name": choose.choice(strategies),
        "start_position": choose.randint(-2, 12),
        "player_card_1": choose.choice(CARDS),
        "player_card_2": choose.choice(CARDS),
        "dealer_up_card": choose.choice(CARDS),
        "player_cards_used": choose.choices(CARDS, k=choose.randint(0, 7)),
        "dealer_cards_used": choose.choices(CARDS, k=choose.randint(0, 7)),
        "player_final_total": choose.randint(2, 30),
        "dealer_final_total": choose.randint(2, 30),
        "player_initial_total": choose.randint(2, 21),
        "player_busted": choose.random() < 0.5,
        "dealer_busted": choose.random() < 0.5,
        "result": choose.choice(["player_wins", "dealer_wins", "push"]),
        "first_action": choose.choice(["hit", "stand", "double_down"]),
    }


@pytest.mark.parametrize(
    ("pipeline", "step"),
    [
        ("Blackjack", "deal_cards"),
        ("Blackjack", "verify_hand"),
        ("Blackjack", "verify_strategy"),
        ("DrunkenSailor", "random_walk"),
    ],
)
def test_published_steps_give_what_python_gives(
    public_data: Path, pipeline: str, step: str
) -> None:
    written = published(public_data, pipeline, step)
    ran = compile_procedure(
        init=written.get("init", {}),
        expressions=written["expressions"],
        loop_until=written.get("loop_until"),
        max_iterations=written.get("max_iterations"),
    )
    pythons_own = _PythonsOwn(written)
    choose = random.Random(step)  # noqa: S311
    for number in range(2_000):
        context, generator = (
            played(choose),
            generator_of(b'[7,"%b","%d"]' % (step.encode(), number)),
        )
        given = ran.run(context, seed=7, step=step, unit_id=str(number))
        assert given == pythons_own.run(context, generator)
