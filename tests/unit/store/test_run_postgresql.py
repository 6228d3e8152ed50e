"""A run in PostgreSQL: the same answers as of its file, beside other runs and other tenants."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.engine import URL
from tests.fakes.runs import attempt, call, keep, recalled
from tests.unit.store.test_postgresql import place, rows_seen

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.model_call import BatchAnswer, RequestMessage
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.database import Database, TenantDatabase
from ai_psychiatrist.store.opening import open_postgresql
from ai_psychiatrist.store.run_batches import BatchEvent, BatchRequestRow
from ai_psychiatrist.store.run_file import RunTerms, read_terms, write_terms
from ai_psychiatrist.store.run_rows import RunRows
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

__all__ = ["place"]

TRANSCRIPT = "I hardly sleep."
TERMS = RunTerms(steps=("score", "sum"), keeps_raw=True, about={"kind": "assessment"})


@pytest.fixture
def database(place: URL) -> Iterator[Database]:
    with closing(open_postgresql(place)) as opened:
        yield opened


def run_in(
    database: Database, folder: Path, run: str, *, tenant: str = "one", cipher: Cipher | None = None
) -> RunStore:
    TenantDatabase(database, tenant).open()
    rows = RunRows(database=database, tenant=tenant, run=run, cipher=cipher)
    write_terms(rows, TERMS)
    return RunStore(folder, rows, read_terms(rows))


def filled(run: RunStore) -> RunStore:
    with run.transaction():
        for unit_id in ("u1", "u2", "u3"):
            run.units.add(unit_id, context_digest="digest", context=TRANSCRIPT.encode())
            run.request(unit_id, "score")
    sent = (RequestMessage("user", f"Rate: {TRANSCRIPT} Now."),)
    keep(run, call("reply", sent=sent, input_tokens=5, output_tokens=2))
    keep(run, call("paid twice", sent=sent, input_tokens=7, output_tokens=2))
    keep(run, call(None, digest="d2", code=FailureCode.TIMED_OUT, http_status=504))
    run.record([attempt("u1"), attempt("u2", "parse")])
    run.record([attempt("u2", "duplicate", number=2)])
    return run


def test_run_is_kept_as_in_a_file(database: Database, tmp_path: Path) -> None:
    run = filled(run_in(database, tmp_path, "first"))
    assert run.units.ids() == ["u1", "u2", "u3"]
    assert run.units.step_context("u1", "score") == TRANSCRIPT.encode()
    found = recalled(run)
    assert found is not None
    assert (found.reply, found.sent[0].text) == ("reply", f"Rate: {TRANSCRIPT} Now.")
    assert [one.code for one in run.calls.of_attempt("u1", 1)] == [None, FailureCode.TIMED_OUT]
    usage = [(one.calls, one.counted, one.refused, one.input) for one in run.calls.usage()]
    assert usage == [(2, 1, 1, 5)]
    counts = run.counts("score")
    assert (counts.requested, counts.valid, counts.failed, counts.pending) == (3, 1, 1, 1)
    assert run.queue("score", RetryLimits()) == [("u2", 0), ("u3", 0)]
    assert run.queue("score", RetryLimits(), includes_failed=False) == [("u3", 0)]
    rows = [(row.record.unit_id, row.attempts, row.newest_attempt) for row in run.current("score")]
    assert rows == [("u1", 1, 1), ("u2", 1, 2)]
    with pytest.raises(InputError, match="recorded otherwise"):
        run.record([attempt("u1", "parse")])
    run.units.add_input("u1", "sum", b"{}")
    assert run.units.step_context("u1", "sum") == b"{}"


def test_batches_are_kept_as_in_a_file(database: Database, tmp_path: Path) -> None:
    run = filled(run_in(database, tmp_path, "batched"))
    rows = [
        BatchRequestRow(custom_id=name, unit_id="u3", attempt=1, digest=name, occurrence=0)
        for name in ("a", "b")
    ]
    number = run.batches.intend("openai:m", "group", rows)
    run.batches.note(number, BatchEvent.SUBMITTED, handle="handle")
    assert [batch.handle for batch in run.batches.waited_for()] == ["handle"]
    assert run.batches.waiting_units() == {"u3"}
    answers = [BatchAnswer(custom_id="a", status="succeeded", body="{}")]
    assert run.batches.add_results(answers, number, BatchEvent.SHORT) == 1
    assert run.batches.add_results(answers, number, BatchEvent.ENDED) == 0
    assert run.batches.all()[0].short_looks == 1
    assert run.batches.waited_for() == []
    of_unit = run.batches.of_unit("u3", 1)
    assert [(one.custom_id, one.counts, one.answer) for one in of_unit] == [
        ("a", True, answers[0]),
        ("b", True, None),
    ]


def test_runs_and_tenants_do_not_see_each_other(
    database: Database, place: URL, tmp_path: Path
) -> None:
    filled(run_in(database, tmp_path, "here", tenant="ours"))
    for other in (
        run_in(database, tmp_path, "there", tenant="ours"),
        run_in(database, tmp_path, "here", tenant="theirs"),
    ):
        assert other.units.ids() == []
        assert other.calls.made() == 0
        assert list(other.current("score")) == []
        assert filled(other).counts("score").requested == 3
    count = "SELECT FROM run_units WHERE run = 'here'"
    assert rows_seen(place, "ours", count) == 3
    assert rows_seen(place, None, count) == 0
    with pytest.raises(Exception, match="append-only"):
        rows_seen(place, "ours", "UPDATE run_attempts SET stage = NULL")


def test_words_are_sealed_for_their_run_alone(database: Database, tmp_path: Path) -> None:
    cipher = Cipher(b"k" * 32)
    run = filled(run_in(database, tmp_path, "sealed", cipher=cipher))
    assert recalled(run) is not None
    rows = RunRows(database=database, tenant="one", run="sealed", cipher=Cipher(b"o" * 32))
    with pytest.raises(ConfigurationError, match="another key"):
        read_terms(rows)
    with pytest.raises(ConfigurationError, match="is encrypted"):
        read_terms(RunRows(database=database, tenant="one", run="sealed"))
