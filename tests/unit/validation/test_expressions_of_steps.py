from pathlib import Path

import pytest
import yaml

from ai_psychiatrist.validation.expressions import (
    ExpressionKind,
    ExpressionRefused,
    check_expression,
)


@pytest.mark.parametrize("pipeline", ["Blackjack", "DrunkenSailor"])
def test_expressions_of_published_pipelines_pass(public_data: Path, pipeline: str) -> None:
    text = (public_data / "octobatch" / pipeline / "config.yaml").read_text("utf-8")
    sources = [
        source
        for step in yaml.safe_load(text)["pipeline"]["steps"]
        for source in (
            *step.get("init", {}).values(),
            *step.get("expressions", {}).values(),
            *([step["loop_until"]] if "loop_until" in step else []),
        )
    ]

    assert sources
    for source in sources:
        check_expression(source)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("['A', '2'] * 24", set()),
        ("10000 * 'x'", set()),
        ("random.sample(_cards, 14)", {"_cards"}),
        ("random.choice([-1, 1]) + random.randint(1, 6)", set()),
        ("random.choices(deck, k=3)", {"deck"}),
        ("f'{total} of {n:>5} is {share:.2f} {name!r}'", {"total", "n", "share", "name"}),
        ("', '.join(str(c) for c in cards)", {"cards"}),
        ("dict(zip(keys, values))", {"keys", "values"}),
        ("_cards[0:5]", {"_cards"}),
    ],
)
def test_step_may_use_what_a_rule_may_not(source: str, names: set[str]) -> None:
    assert check_expression(source).names == names
    if source != "_cards[0:5]":
        with pytest.raises(ExpressionRefused):
            check_expression(source, kind=ExpressionKind.RULE)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("['A'] * 10001", "repeating other than"),
        ("['A'] * n", "repeating other than"),
        ("['A'] * 100 * 100", "repeating other than"),
        ("random.seed(1)", "calling 'seed'"),
        ("random.shuffle(cards)", "calling 'shuffle'"),
        ("random._inst.random()", "reading an attribute"),
        ("random.SystemRandom()", "calling 'SystemRandom'"),
        ("random.random.__self__", "reading an attribute"),
        ("os.system('true')", "calling 'system'"),
        ("open('x')", "calling 'open'"),
        ("f'{x.__class__}'", "reading an attribute"),
        ("f'{x:>99999999}'", "this way of formatting"),
        ("f'{x:{width}}'", "this way of formatting"),
        ("f'{open(1)}'", "calling 'open'"),
        ("2 ** 100", "'**'"),
        ("lambda: 1", "'lambda'"),
        ("(x := 1)", "an assignment"),
        ("'a'.ljust(9)", "calling 'ljust'"),
    ],
)
def test_step_may_not_use_more_than_its_table(source: str, message: str) -> None:
    with pytest.raises(ExpressionRefused) as caught:
        check_expression(source)

    assert caught.value.message.startswith(message)
