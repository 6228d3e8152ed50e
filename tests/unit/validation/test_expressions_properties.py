import copy
import json
from types import CodeType, FunctionType

from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.validation.checks.rules import RuleSet, RuleSpec
from ai_psychiatrist.validation.expressions import (
    EvaluationFailed,
    ExpressionRefused,
    Scope,
    compile_expression,
    compile_procedure,
)
from ai_psychiatrist.validation.expressions.functions import FUNCTIONS as TABLES

FUNCTIONS, METHODS = TABLES["fn_"], TABLES["method_"]

NAMES = ["a", "b", "items", "len", "nowhere", "out", "inp"]
KEYS = ["'a'", "'b'", "0", "-1", "a", "b"]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "items"]), inner, max_size=3)
    ),
    max_leaves=12,
)
units = st.dictionaries(st.sampled_from(["a", "b", "items", "len"]), values, max_size=4)

leaves = st.sampled_from(
    [*NAMES, "1", "0", "2.5", "-3", "'a'", "''", "None", "True", "[]", "[1, 'a']", "dir()"]
)


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(
        ["not in", "is None or", *"+ - * / // % == != < <= > >= and or in".split()]
    )
    several = st.lists(inner, max_size=3).map(", ".join)
    return st.one_of(
        st.builds("({} {} {})".format, inner, operators, inner),
        st.builds("({} < {} <= {})".format, inner, inner, inner),
        st.builds("(not {})".format, inner),
        st.builds("(-{})".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("{}[{}]".format, st.sampled_from(NAMES), st.sampled_from(KEYS)),
        st.builds("({})[{}:{}]".format, inner, inner, inner),
        st.builds("[{}]".format, several),
        st.builds("{{{}, 1}}".format, inner),
        st.builds("{{'a': {}, 'b': {}}}".format, inner, inner),
        st.builds("[{} for a in {} if {}]".format, inner, inner, inner),
        st.builds("[{} for a, x in {}]".format, inner, inner),
        st.builds("{}({} for b in {})".format, st.sampled_from(["all", "sum"]), inner, inner),
        st.builds("has({}[{}])".format, st.sampled_from(NAMES), inner),
        st.builds("{}({})".format, st.sampled_from(sorted(FUNCTIONS)), several),
        st.builds("({}).{}({})".format, inner, st.sampled_from(sorted(METHODS)), several),
    )


sources = st.recursive(leaves, grow, max_leaves=8)


@given(source=sources, out=units, inp=units)
def test_evaluation_leaves_the_data_alone_and_fails_in_one_way(
    source: str, out: dict[str, object], inp: dict[str, object]
) -> None:
    before = copy.deepcopy((out, inp))
    try:
        expression = compile_expression(source)
    except ExpressionRefused:
        return
    problem = None
    try:
        expression.evaluate(Scope(out=out, inp=inp))
    except EvaluationFailed as caught:
        problem = caught

    assert problem is None or problem.__context__ is None
    assert (out, inp) == before


step_sources = st.recursive(
    leaves,
    lambda inner: (
        grow(inner)
        | st.builds("({} * {})".format, inner, inner)
        | st.builds("random.choice({})".format, inner)
        | st.builds("random.sample({}, {})".format, inner, inner)
        | st.builds("f'{{{}}} {{a}}'".format, st.sampled_from(NAMES))
    ),
    max_leaves=8,
)


@given(source=step_sources, condition=step_sources, known=units)
def test_step_gives_json_and_the_same_again_or_fails_in_one_way(
    source: str, condition: str, known: dict[str, object]
) -> None:
    before = copy.deepcopy(known)

    def ran() -> object:
        try:
            step = compile_procedure(
                init={"x": "1"},
                expressions={"b": source, "_c": source, "x": "x + 1"},
                loop_until=condition,
                max_iterations=3,
            )
            return json.dumps(step.run(known, seed=1, step="step", unit_id="u1"), allow_nan=False)
        except (ExpressionRefused, EvaluationFailed) as problem:
            return str(problem)

    assert ran() == ran()
    assert known == before


def names_used(code: CodeType) -> set[str]:
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*map(names_used, inner))


@given(source=sources)
def test_compiled_code_reads_no_attribute_and_no_name_but_our_own(source: str) -> None:
    try:
        function = compile_expression(source).function
    except ExpressionRefused:
        return

    assert isinstance(function, FunctionType)
    assert all(
        name.startswith(("op_", "fn_", "method_", "type_"))
        for name in names_used(function.__code__)
    )
    assert function.__globals__["__builtins__"] == {}


@given(source=sources, condition=sources, out=units)
def test_rules_give_an_outcome_for_every_unit(
    source: str, condition: str, out: dict[str, object]
) -> None:
    spec = RuleSpec(name="rule", expr=source, error="{a} {b:.2f} {items[0][a]}", when=condition)
    try:
        rules = RuleSet([spec])
    except ExpressionRefused:
        return

    outcome = rules.apply(Scope(out=out))

    assert len(outcome.errors) + len(outcome.skipped) + outcome.is_over_budget <= 1
    assert outcome == rules.apply(Scope(out=copy.deepcopy(out)))


@given(source=st.text(max_size=60))
def test_any_text_compiles_or_is_refused(source: str) -> None:
    column = 1
    try:
        compile_expression(source)
    except ExpressionRefused as problem:
        column = problem.column

    assert column >= 1
