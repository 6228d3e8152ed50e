import pytest

from ai_psychiatrist.validation.expressions import EvaluationFailed, Scope, compile_expression
from ai_psychiatrist.validation.expressions.expression import UNIT_STEPS

MANY: list[object] = list(range(2_000))
TEXT = "all work and no play " * 5_000
DEEP: list[object] = [[[n] * 10 for n in range(50)] for _ in range(50)]


def unit() -> Scope:
    return Scope(out={"many": MANY, "text": TEXT, "deep": DEEP, "words": {TEXT: MANY}, "n": 3})


@pytest.mark.parametrize(
    "source",
    [
        "all(x + y >= 0 for x in many for y in many)",
        "len([[y for y in many] for x in many]) > 0",
        "sum(sum(many) for x in many) > 0",
        "all(max(many) >= x for x in many)",
        "all(x in many for x in many)",
        "all([] not in deep for x in many)",
        "all(deep == deep for x in many)",
        "all([deep] == [deep] for x in many)",
        "all(deep in deep for x in many)",
        "len([deep < deep for x in many]) > 0",
        "all(sorted(many) for x in many)",
        "all(distinct(many) for x in many)",
        "all(set(many) for x in many)",
        "all(many[1:] for x in many)",
        "all(many + many for x in many)",
        "all(text + text for x in many)",
        "all(text.lower() for x in many)",
        "len([text.upper() == text for x in many]) > 0",
        "all(text.split() for x in many)",
        "all(text.strip(text) for x in many)",
        "all(text.startswith(text) for x in many)",
        "len(['zz' in text for x in many]) > 0",
        "all(text.count('zz') == 0 for x in many)",
        "all(many.count(x) for x in many)",
        "all(many.index(x) >= 0 for x in many)",
        "all(count(many, deep) == 0 for x in many)",
        "all(list(words.values()) for x in many for y in many)",
        "len([words.values() == words.values() for x in many]) > 0",
        "sorted([deep for x in many]) == []",
        "max([deep for x in many]) == []",
        "count([text for x in many], text.lower()) > 0",
        "text.lower() in [text for x in many]",
        "[text for x in many].index(text.lower()) > 0",
        "len(sorted([y for x in many for y in [text, text.lower()]])) > 0",
        "len(sorted([text for x in many])) > 0",
        "all(zip(many, many) for x in many)",
        "all(enumerate(many) for x in many)",
        "all(0.5 not in range(100000) for x in many)",
        "len(range(10000000)) > 1",
        "len(range(100000)) > 1 and len(list(range(100000))) > 1",
        "len([" + "x + x + " * 20 + "x for x in range(50000)]) > 1",
        "all([x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x] for x in range(90000))",
    ],
)
def test_work_beyond_the_budget_of_a_unit_is_stopped(source: str) -> None:
    with pytest.raises(EvaluationFailed) as caught:
        compile_expression(source).evaluate(unit())

    assert caught.value.kind == "budget"


@pytest.mark.parametrize(
    "source",
    [
        "all(i >= 0 for i in many)",
        "'no play' in text and text.lower().startswith('all')",
        "sum(x * x for x in many) > 0",
        "len(distinct(many)) == len(many)",
        "deep == deep",
        "len(many + many) == 4000",
        "5 in range(90000)",
    ],
)
def test_ordinary_work_on_large_data_is_within_the_budget(source: str) -> None:
    where = unit()

    assert compile_expression(source).evaluate(where) is True
    assert 0 < where.steps_left <= UNIT_STEPS


def test_expressions_of_one_unit_share_its_budget() -> None:
    rule = compile_expression("all(x >= 0 for x in many)")
    where = Scope(out={"many": MANY}, steps=5_000)

    assert rule.evaluate(where) is True
    assert rule.evaluate(where) is True
    with pytest.raises(EvaluationFailed, match="budget"):
        rule.evaluate(where)


@pytest.mark.parametrize(
    "source",
    [
        "n * n * n * n == huge * huge",
        "huge // n > 0",
        "huge % n > 0",
        "huge / n > 0",
        "int(huge) > 0",
        "str(huge) == ''",
        "huge + huge > 0",
    ],
)
def test_numbers_of_many_digits_are_not_calculated_with(source: str) -> None:
    where = Scope(out={"n": 3, "huge": 10**4_000})

    with pytest.raises(EvaluationFailed) as caught:
        compile_expression(source).evaluate(where)

    assert caught.value.kind == "arithmetic"


def test_numbers_of_many_digits_are_compared() -> None:
    where = Scope(out={"huge": 10**4_000})

    assert compile_expression("huge > 3 and huge == huge").evaluate(where) is True


def test_host_calls_cost_steps() -> None:
    where = Scope(out={"many": MANY}, host={"matches_quote": lambda _: True}, steps=10_000)

    with pytest.raises(EvaluationFailed, match="budget"):
        compile_expression("all(matches_quote('x') for x in many)").evaluate(where)


def test_data_nested_beyond_pythons_reach_is_over_budget() -> None:
    def nested() -> list[object]:
        value: list[object] = []
        for _ in range(30_000):
            value = [value]
        return value

    where = Scope(out={"first": nested(), "second": nested()})

    with pytest.raises(EvaluationFailed, match="budget"):
        compile_expression("first == second").evaluate(where)
