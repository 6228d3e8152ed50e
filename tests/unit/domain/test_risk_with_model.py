"""What a model finds is put beside what the rules found: only upwards."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.risk import (
    MOST_SIGNALS,
    Examined,
    ModelReading,
    ReadingStatus,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskReport,
    RiskSignal,
    RiskSource,
    risk_report,
    with_model_reading,
)

LEVELS = (RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH)


def signal(
    start: int,
    level: RiskLevel,
    *,
    end: int | None = None,
    kind: RiskKind = RiskKind.INTENT,
    source: RiskSource = RiskSource.RULES,
) -> RiskSignal:
    return RiskSignal(
        kind=kind,
        polarity=RiskPolarity.AFFIRMED,
        level=level,
        turn=0,
        start=start,
        end=start + 5 if end is None else end,
        source=source,
    )


def joined(rules: Sequence[RiskSignal], model: Sequence[RiskSignal]) -> RiskReport:
    reading = ModelReading(status=ReadingStatus.ANSWERED, signals=tuple(model))
    return with_model_reading(risk_report(rules, Examined()), reading)


def of_model(start: int, level: RiskLevel, **more: object) -> RiskSignal:
    return signal(start, level, source=RiskSource.MODEL, **more)  # type: ignore[arg-type]


def test_a_sign_that_the_rules_do_not_have_is_added_and_raises_the_level() -> None:
    found = joined([signal(0, RiskLevel.LOW)], [of_model(20, RiskLevel.HIGH)])
    assert [one.source for one in found.signals] == [RiskSource.RULES, RiskSource.MODEL]
    assert (found.level, found.signal_count) == (RiskLevel.HIGH, 2)


@pytest.mark.parametrize(
    ("level", "kind", "listed"),
    [
        pytest.param(RiskLevel.HIGH, RiskKind.PLAN, 2, id="a_higher_one_stands_beside"),
        pytest.param(RiskLevel.MODERATE, RiskKind.PLAN, 1, id="an_equal_one_adds_nothing"),
        pytest.param(RiskLevel.LOW, RiskKind.INTENT, 1, id="a_lower_one_lowers_nothing"),
        pytest.param(RiskLevel.LOW, RiskKind.ABUSE_BY_OTHERS, 2, id="another_danger_stands"),
    ],
)
def test_a_sign_in_the_same_words(level: RiskLevel, kind: RiskKind, listed: int) -> None:
    rule = signal(0, RiskLevel.MODERATE)
    found = joined([rule], [of_model(3, level, kind=kind)])
    assert rule in found.signals
    assert (len(found.signals), found.signal_count) == (listed, listed)
    assert found.level.rank >= RiskLevel.MODERATE.rank


def test_a_failed_model_leaves_the_rules_as_they_are() -> None:
    rules = risk_report([signal(0, RiskLevel.MODERATE)], Examined())
    found = with_model_reading(rules, ModelReading(status=ReadingStatus.FAILED))
    assert (found.signals, found.signal_count) == (rules.signals, rules.signal_count)
    assert found.model.status is ReadingStatus.FAILED


def test_of_equally_urgent_signs_the_rules_own_are_listed_first() -> None:
    rules = [signal(10 * at, RiskLevel.HIGH) for at in range(MOST_SIGNALS)]
    model = [of_model(10_000 + 10 * at, RiskLevel.HIGH) for at in range(50)]
    found = joined(rules, model)
    assert found.signals == tuple(rules)
    assert found.signal_count == MOST_SIGNALS + 50


def signals_of(source: RiskSource) -> st.SearchStrategy[list[RiskSignal]]:
    return st.lists(
        st.builds(
            lambda start, level, kind: signal(start, level, kind=kind, source=source),
            st.integers(0, 40),
            st.sampled_from(LEVELS),
            st.sampled_from(RiskKind),
        ),
        max_size=12,
    )


@given(rules=signals_of(RiskSource.RULES), model=signals_of(RiskSource.MODEL))
def test_nothing_of_the_rules_is_removed_or_lowered(
    rules: list[RiskSignal], model: list[RiskSignal]
) -> None:
    before = risk_report(sorted(rules, key=lambda one: one.start), Examined())
    after = joined(before.signals, model)
    assert [one for one in after.signals if one.source is RiskSource.RULES] == list(before.signals)
    assert after.level.rank >= before.level.rank
    assert after.signal_count >= before.signal_count
    levels = [one.level.rank for one in (*before.signals, *model)]
    assert after.level.rank == max(levels, default=0)
