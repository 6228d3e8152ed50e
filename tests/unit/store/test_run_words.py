"""Words of a run come back as they came, lie in the file once, and open in their own row alone."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.fakes.runs import attempt, call, keep, new_run, recalled

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.model_call import BatchAnswer, RequestMessage
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.run_batches import BatchEvent, BatchRequestRow
from ai_psychiatrist.store.runs import RunStore

LONG = "I hardly sleep, and that nearly every day. " * 40
SENT = (RequestMessage("system", "Rate."), RequestMessage("user", f"<{LONG}> {LONG}"))


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("", id="nothing"),
        pytest.param(LONG, id="long"),
        pytest.param("\ud800" * 200, id="half characters"),
        pytest.param("\0'\"\\\n\u2028", id="marks"),
    ],
)
@pytest.mark.parametrize("cipher", [None, Cipher(b"k" * 32)], ids=["plain", "sealed"])
def test_words_come_back_as_they_came(tmp_path: Path, words: str, cipher: Cipher | None) -> None:
    context = words.encode("utf-8", "surrogatepass")
    made = call(words, sent=(RequestMessage("user", f"before {words} behind"),))
    with new_run(tmp_path, ["u1"], cipher=cipher, context=context) as run:
        run.units.add_input("u1", "score", context)
        keep(run, made)
        run.record([attempt("u1", raw=words, output={"quote": words})])
    with RunStore.open(tmp_path, cipher=cipher) as run:
        assert run.units.step_context("u1", "score") == context
        assert recalled(run) == made
        assert run.history("u1", "score") == [attempt("u1", raw=words, output={"quote": words})]


def test_transcript_lies_in_the_file_once(tmp_path: Path) -> None:
    with new_run(tmp_path, ["u1"], context=LONG.encode()) as run:
        keep(run, call(sent=SENT))
        assert recalled(run) == call(sent=SENT)
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as file:
        ((body,),) = file.execute("SELECT body FROM run_calls")
    assert b"Rate." in body
    assert b"nearly every day" not in body


def test_sealed_words_open_in_their_own_row_alone(tmp_path: Path) -> None:
    cipher = Cipher(b"k" * 32)
    with new_run(tmp_path, ["u1"], cipher=cipher) as run:
        keep(run, call("first"))
        keep(run, call("second", digest="d2"))
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as file, file:
        ((trigger,),) = file.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'run_calls_refuse_update'"
        )
        file.execute("DROP TRIGGER run_calls_refuse_update")
        file.execute("UPDATE run_calls SET body = (SELECT body FROM run_calls WHERE digest = 'd2')")
        file.execute(trigger)
    with (
        RunStore.open(tmp_path, cipher=cipher) as run,
        pytest.raises(ConfigurationError, match="another key, or was changed"),
    ):
        recalled(run)


def test_file_of_the_form_before_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as file, file:
        file.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL)")
        file.execute("INSERT INTO meta VALUES ('schema_version', 7)")
        file.execute("CREATE TABLE units (seq INTEGER PRIMARY KEY, unit_id TEXT NOT NULL UNIQUE)")
    before = (tmp_path / "ledger.sqlite").read_bytes()
    with pytest.raises(ConfigurationError, match=r"version 7.*finish or export it, or run again"):
        RunStore.open(tmp_path)
    with pytest.raises(InputError, match="holds a run already"):
        new_run(tmp_path)
    assert (tmp_path / "ledger.sqlite").read_bytes()[100:] == before[100:]


def test_batches_of_one_run_are_those_of_another_that_takes_them(tmp_path: Path) -> None:
    answer = BatchAnswer(custom_id="a", status="succeeded", body=LONG)
    with (
        new_run(tmp_path / "part", ["u1"], cipher=Cipher(b"a" * 32)) as part,
        new_run(tmp_path / "whole", ["u0", "u1"], cipher=Cipher(b"b" * 32)) as whole,
    ):
        for name in ("a", "b"):
            row = BatchRequestRow(
                custom_id=name, unit_id="u1", attempt=1, digest=name, occurrence=0
            )
            number = part.batches.intend("openai:m", "group", [row])
            part.batches.note(number, BatchEvent.SUBMITTED, handle=f"handle of {name}")
        part.batches.add_results([answer], 1, BatchEvent.SHORT)
        part.batches.add_results([], 1, BatchEvent.ENDED)
        for batch in part.batches.all():
            whole.batches.take(batch, part.batches.of_batch(batch.number))
        assert whole.batches.all() == part.batches.all()
        assert whole.batches.of_unit("u1", 1) == part.batches.of_unit("u1", 1)
        assert whole.batches.waiting_units() == {"u1"}
        assert [batch.handle for batch in whole.batches.waited_for()] == ["handle of b"]
