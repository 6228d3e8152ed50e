import pytest

from ai_psychiatrist.validation.expressions import (
    ExpressionKind,
    ExpressionRefused,
    compile_expression,
)

STEP = ExpressionKind.EXPRESSION_STEP


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("['A', '2'] * 24", set()),
        ("10 * cards", {"cards"}),
        ("random.sample(_cards, 14)", {"_cards"}),
        ("random.choice([-1, 1]) + n", {"n"}),
        ("f'{total} of {n} {names[0]}'", {"total", "n", "names"}),
    ],
)
def test_step_may_use_what_a_rule_may_not(source: str, names: set[str]) -> None:
    assert compile_expression(source, kind=STEP).names == names
    if source != "10 * cards":
        with pytest.raises(ExpressionRefused):
            compile_expression(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("['A'] * 10001", "repeating a list to more than 10000"),
        ("'a' * 10", "repeating a text"),
        ("f'{x}' * 10", "repeating a text"),
        ("random.seed(1)", "calling 'seed'"),
        ("random.shuffle(cards)", "calling 'shuffle'"),
        ("random.choices(cards, k=9)", "calling 'choices'"),
        ("random._inst.random()", "reading an attribute"),
        ("random.SystemRandom()", "calling 'SystemRandom'"),
        ("random.random.__self__", "reading an attribute"),
        ("random.__init__()", "calling '__init__'"),
        ("random.choice.__globals__['os']", "reading an attribute"),
        ("random.sample(cards, k=2)", "calling this with so many"),
        ("random.choice(*cards)", "unpacking with '*'"),
        ("os.system('true')", "calling 'system'"),
        ("open('x')", "calling 'open'"),
        ("f'{x.__class__}'", "reading an attribute"),
        ("f'{x!r}'", "a conversion or format"),
        ("f'{x:>99999999}'", "a conversion or format"),
        ("f'{x:{width}}'", "a conversion or format"),
        ("f'{x=}'", "a conversion or format"),
        ("f'{open(1)}'", "calling 'open'"),
        ("f'{(lambda: 1)()}'", "calling what is no function"),
        ("2 ** 100", "'**'"),
        ("lambda: 1", "'lambda'"),
        ("(x := 1)", "an assignment"),
        ("'a'.ljust(9)", "calling 'ljust'"),
        ("'{0.__class__}'.format(x)", "calling 'format'"),
        ("{k: 1 for k in cards}", "a dictionary built in a loop"),
    ],
)
def test_step_may_not_use_more_than_its_table(source: str, message: str) -> None:
    with pytest.raises(ExpressionRefused) as caught:
        compile_expression(source, kind=STEP)

    assert caught.value.message.startswith(message)
