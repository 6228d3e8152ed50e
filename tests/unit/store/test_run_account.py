"""Every unit that was asked for is in one place, and is asked again only so often."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.runs import attempt, new_run

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

LIMITS = RetryLimits(provider_attempts=2, validation_attempts=3)


def test_the_account_names_where_every_unit_is(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1", "u2", "u3", "u4"], steps=("score", "sum")) as ledger:
        ledger.record([attempt("u1"), attempt("u2", "parse"), attempt("u3", "validation")])
        ledger.record([attempt("u3", number=2)])
        accounts = ledger.counts_by_step()
    score = accounts["score"]
    assert (score.requested, score.valid, score.failed, score.pending) == (4, 2, 1, 1)
    assert score.by_stage == {"parse": 1}
    assert score.balances
    assert accounts["sum"].requested == 0
    assert accounts["sum"].balances


def test_an_account_of_a_damaged_ledger_does_not_balance(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1", "u2"]) as ledger:
        ledger.record([attempt("u1"), attempt("u2")])
    with closing(sqlite3.connect(tmp_path / "run" / "ledger.sqlite")) as connection, connection:
        connection.execute("DROP TRIGGER run_requests_refuse_delete")
        connection.execute("DELETE FROM run_requests WHERE unit = 2")
    with RunStore.open(tmp_path / "run") as ledger:
        assert not ledger.counts("score").balances


stages = st.sampled_from([None, *FailureStage])


@settings(deadline=None)
@given(st.lists(st.lists(stages, max_size=4), min_size=1, max_size=6))
def test_the_account_balances_whatever_happened(
    tmp_path_factory: pytest.TempPathFactory, histories: list[list[str | None]]
) -> None:
    names = [f"u{number}" for number in range(len(histories))]
    with new_run(tmp_path_factory.mktemp("run"), names) as ledger:
        for name, history in zip(names, histories, strict=True):
            ledger.record(attempt(name, s, number=n) for n, s in enumerate(history, start=1))
        account = ledger.counts("score")
        last = [row.record.stage for row in ledger.current("score")]
    counting = [[s for s in history if s != FailureStage.DUPLICATE] for history in histories]
    assert last == [history[-1] for history in counting if history]
    assert account.balances
    assert account.requested == len(names)
    assert account.valid == last.count(None)


@pytest.mark.parametrize(
    ("stages", "is_queued"),
    [
        pytest.param([], True, id="never asked"),
        pytest.param([None], False, id="valid"),
        pytest.param(["parse"], True, id="no JSON"),
        pytest.param(["schema_validation"], True, id="schema"),
        pytest.param(["validation"], True, id="rules"),
        pytest.param(["missing"], True, id="never answered"),
        pytest.param(["pipeline_internal"], False, id="the program's own failure"),
        pytest.param(["provider"], True, id="one failed call of two"),
        pytest.param(["provider", "provider"], False, id="all failed calls"),
        pytest.param(["parse", "validation"], True, id="two answers of three"),
        pytest.param(["parse", "validation", "missing"], False, id="all answers"),
        pytest.param(["parse", "provider", "parse"], True, id="kinds are counted apart"),
    ],
)
def test_a_unit_is_queued_until_its_attempts_are_used_up(
    tmp_path: Path, stages: list[str | None], *, is_queued: bool
) -> None:
    with new_run(tmp_path / "run", ["u1"]) as ledger:
        ledger.record(attempt("u1", stage, number=n) for n, stage in enumerate(stages, start=1))
    with RunStore.open(tmp_path / "run") as ledger:
        assert ledger.queue("score", LIMITS) == ([("u1", 0)] if is_queued else [])
        row = ledger.last("u1", "score")
    if row is not None and row.is_retryable:
        assert row.is_exhausted(LIMITS) is not is_queued


def test_failed_units_are_left_out_of_the_queue_when_nobody_asks_for_them(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1", "u2"]) as ledger:
        ledger.record([attempt("u1", "parse")])
        assert ledger.queue("score", LIMITS, includes_failed=False) == [("u2", 0)]


def test_a_retry_adds_an_attempt_and_keeps_the_hard_failure_as_it_is(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["soft", "hard"]) as ledger:
        ledger.record([attempt("soft", "validation"), attempt("hard", "pipeline_internal")])
        assert ledger.queue("score", LIMITS) == [("soft", 0)]
        ledger.record([attempt("soft", number=2)])
        assert [made.stage for made in ledger.history("soft", "score")] == ["validation", None]
        assert [made.stage for made in ledger.history("hard", "score")] == ["pipeline_internal"]
