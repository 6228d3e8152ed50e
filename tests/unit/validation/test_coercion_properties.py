"""What holds of coercion for every schema and every answer."""

import copy

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.unit.validation.schema_strategies import answers, schemas

from ai_psychiatrist.validation.checks.coercion.choices import CoercionProfile
from ai_psychiatrist.validation.checks.coercion.coercer import Coercer
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema

PROFILES = st.sampled_from(
    [CoercionProfile(), CoercionProfile(enum_prefixes=("shadow ",), enum_split=" | ")]
)
slow_to_draw = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


@slow_to_draw
@given(schema=schemas(), value=answers(), profile=PROFILES)
def test_a_second_coercion_changes_nothing(
    schema: dict[str, object], value: dict[str, object], profile: CoercionProfile
) -> None:
    coercer = Coercer(CompiledSchema(schema, name="drawn"), profile)
    once = coercer.coerce(value)
    twice = coercer.coerce(once.value)
    assert twice.coercions == ()
    assert twice.value == once.value


@slow_to_draw
@given(schema=schemas(), value=answers(), profile=PROFILES)
def test_an_answer_that_fits_still_fits_and_is_equal(
    schema: dict[str, object], value: dict[str, object], profile: CoercionProfile
) -> None:
    compiled = CompiledSchema(schema, name="drawn")
    if compiled.is_valid(value):
        result = Coercer(compiled, profile).coerce(value)
        assert result.value == value
        assert compiled.is_valid(result.value)
        assert all(isinstance(record.before, float) for record in result.coercions)
        assert all(record.after == record.before for record in result.coercions)


@slow_to_draw
@given(schema=schemas(), value=answers(), profile=PROFILES)
def test_the_argument_is_left_as_it_was(
    schema: dict[str, object], value: dict[str, object], profile: CoercionProfile
) -> None:
    before = copy.deepcopy(value)
    Coercer(CompiledSchema(schema, name="drawn"), profile).coerce(value)
    assert repr(value) == repr(before)


@slow_to_draw
@example(schema={"type": "object"}, value={"response": {"a": 1}})
@given(schema=schemas(), value=answers())
def test_there_are_records_exactly_where_something_changed(
    schema: dict[str, object], value: dict[str, object]
) -> None:
    result = Coercer(CompiledSchema(schema, name="drawn")).coerce(value)
    assert (repr(result.value) != repr(value)) is bool(result.coercions)
    assert all(repr(record.before) != repr(record.after) for record in result.coercions)
