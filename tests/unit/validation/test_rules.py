import pytest

from ai_psychiatrist.validation.checks.rules import RuleLevel, RuleOutcome, RuleSet, RuleSpec
from ai_psychiatrist.validation.checks.verdict import UnitError
from ai_psychiatrist.validation.expressions import ExpressionRefused, Scope

MANY: list[object] = list(range(2_000))


def apply(*specs: RuleSpec, **out: object) -> RuleOutcome:
    return RuleSet(specs).apply(Scope(out=out, inp={"threshold": 1}))


def rule(expr: str, when: str | None = None, **options: object) -> RuleSpec:
    return RuleSpec(name="r", expr=expr, when=when, **options)


def test_unit_that_keeps_the_rules_has_no_findings() -> None:
    outcome = apply(rule("score >= threshold"), rule("score < 4", when="has(score)"), score=2)

    assert outcome == RuleOutcome()


def test_broken_rule_is_an_error_with_its_message() -> None:
    outcome = apply(rule("score >= threshold", error="{score} is below {threshold}"), score=0)

    assert outcome.errors == (UnitError(rule="r", message="0 is below 1"),)


def test_broken_rule_without_a_message_names_itself() -> None:
    spec = RuleSpec(name="r{score}", expr="score > 1")

    assert apply(spec, score=0).errors[0].message == "The rule 'r{score}' does not hold."


def test_broken_rule_of_level_warning_is_a_warning() -> None:
    outcome = apply(rule("score > 1", level=RuleLevel.WARNING), score=0)

    assert not outcome.errors
    assert [warning.rule for warning in outcome.warnings] == ["r"]


@pytest.mark.parametrize(
    ("when", "is_skipped"),
    [
        ("score > 5", True),
        ("score < 5", False),
        ("nowhere > 5", True),
        ("wounds['head'] > 5", True),
        ("has(nowhere)", True),
        ("'nowhere' in dir() and nowhere > 1", True),
        (None, False),
    ],
)
def test_rule_is_skipped_when_its_condition_does_not_hold(
    when: str | None, *, is_skipped: bool
) -> None:
    outcome = apply(rule("score > 1", when=when), score=0, wounds={})

    assert outcome.skipped == (("r",) if is_skipped else ())
    assert len(outcome.errors) == (not is_skipped)


@pytest.mark.parametrize(
    ("expr", "when", "path", "message"),
    [
        ("nowhere > 1", None, "$.nowhere", "rule 'r' needs the field 'nowhere', which is not"),
        ("wounds['head'] > 1", None, "$.wounds.head", "rule 'r' needs the field 'head'"),
        ("score > 'a'", None, "$.score", "rule 'r' cannot use the field 'score'"),
        ("1 / score > 1", None, "$.score", "rule 'r' cannot calculate with the field 'score'"),
        ("score", None, "$.score", "rule 'r': its expression gives neither true nor false"),
        ("wounds", None, "$.wounds", "rule 'r': its expression gives neither true nor false"),
        ("score < 1", "score", "$.score", "rule 'r': its condition gives neither true nor"),
        ("score < 1", "score > 'a'", "$.score", "rule 'r' cannot use the field 'score'"),
        ("min([]) > 1", None, "$", "rule 'r' cannot use a value"),
    ],
)
def test_rule_that_cannot_be_evaluated_is_an_error_of_its_own(
    expr: str, when: str | None, path: str, message: str
) -> None:
    (error,) = apply(rule(expr, when), score=0, wounds={}).errors

    assert error.rule == "rule_eval"
    assert error.path == path
    assert error.message.startswith(message)


def test_rule_of_level_warning_that_cannot_be_evaluated_is_a_warning() -> None:
    outcome = apply(rule("nowhere > 1", level=RuleLevel.WARNING))

    assert not outcome.errors
    assert [warning.rule for warning in outcome.warnings] == ["rule_eval"]


@pytest.mark.parametrize(
    ("expr", "path"),
    [
        ("score > 1", "$.score"),
        ("score > threshold", "$"),
        ("out['score'] > 1", "$.score"),
        ("inp['threshold'] > 1", "$"),
        ("wounds['arm'] > 1", "$.wounds.arm"),
        ("wounds['arm'] > wounds['leg']", "$.wounds"),
        ("has(score) and wounds['arm'] > 1", "$.wounds.arm"),
        ("all(i['score'] > 1 for i in items)", "$.items"),
        ("all(i['score'] > 1 for i in out['items'])", "$.items"),
        ("items[0]['score'] > 1", "$.items[0].score"),
        ("1 > 2", "$"),
    ],
)
def test_error_points_to_the_one_place_that_the_rule_reads(expr: str, path: str) -> None:
    outcome = apply(rule(expr), score=0, wounds={"arm": 0, "leg": 1}, items=[{"score": 0}])

    assert [error.path for error in outcome.errors] == [path]


def test_unit_that_takes_too_much_work_is_over_budget() -> None:
    outcome = apply(
        rule("len(many) < 5"),
        rule("all(sum(many) > x for x in many)"),
        rule("len(many) < 6"),
        many=MANY,
    )

    assert outcome.is_over_budget
    assert len(outcome.errors) == 1


def test_condition_that_takes_too_much_work_is_over_budget() -> None:
    outcome = apply(rule("len(many) < 5", when="all(sum(many) > x for x in many)"), many=MANY)

    assert outcome.is_over_budget
    assert not outcome.errors


@pytest.mark.parametrize(
    ("expr", "when"), [("items.append(1)", None), ("score > 1", "open('x') == 1")]
)
def test_refused_rule_is_named(expr: str, when: str | None) -> None:
    specs = [rule("score > 1"), RuleSpec(name="bad", expr=expr, when=when)]

    with pytest.raises(ExpressionRefused, match=r"^rule 'bad': calling '.*\(column 1\)$"):
        RuleSet(specs)
