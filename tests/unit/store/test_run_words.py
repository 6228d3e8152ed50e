"""Words of a run come back as they came, lie in the file once, and open in their own row alone."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.runs import attempt, call, keep, new_run, recalled

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.model_call import BatchAnswer, RequestMessage
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.run_append import append_rows
from ai_psychiatrist.store.run_batches import BatchEvent, BatchRequestRow
from ai_psychiatrist.store.run_records import KeptCall
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


def test_appended_runs_keep_all_rows_and_are_sealed_under_the_key_of_the_whole(
    tmp_path: Path,
) -> None:
    """Batches too, whose numbers follow those of the run appended before."""
    answer = BatchAnswer(custom_id="a1", status="succeeded", body=LONG)
    text = LONG.encode()
    with new_run(tmp_path / "whole", [], cipher=Cipher(b"b" * 32)) as whole:
        for at in (2, 1):
            unit_id = f"u{at}"
            folder, cipher = tmp_path / unit_id, Cipher(b"a" * 32)
            with new_run(folder, [unit_id], cipher=cipher, context=text) as part:
                part.units.add_input(unit_id, "score", text)
                part.calls.keep([KeptCall(unit_id, 1, call(sent=SENT))])
                part.record([attempt(unit_id, raw=LONG, output={"quote": LONG})])
                for name in ("a", "b"):
                    row = BatchRequestRow(
                        custom_id=f"{name}{at}",
                        unit_id=unit_id,
                        attempt=1,
                        digest=name,
                        occurrence=0,
                    )
                    number = part.batches.intend("openai:m", "group", [row])
                    handle = f"handle of {name}"
                    part.batches.note(number, BatchEvent.SUBMITTED, handle=handle)
                part.batches.add_results([answer], 1, BatchEvent.SHORT)
                part.batches.add_results([], 1, BatchEvent.ENDED)
                append_rows(
                    whole.rows,
                    part.rows,
                    number_of=lambda number, at=at: number * at,  # type: ignore[misc]
                    digest_of=lambda unit_id, content: f"{unit_id}:{len(content)}",
                )
                assert whole.units.get(unit_id).context_digest == f"{unit_id}:{len(text)}"
                assert whole.units.step_context(unit_id, "score") == text
                assert whole.calls.of_attempt(unit_id, 1) == part.calls.of_attempt(unit_id, 1)
                assert whole.history(unit_id, "score") == part.history(unit_id, "score")
                assert whole.batches.of_unit(unit_id, 1) == part.batches.of_unit(unit_id, 1)
                kept = [replace(one, number=0) for one in part.batches.all()]
                assert [replace(one, number=0) for one in whole.batches.all()][-2:] == kept
        assert whole.units.ids() == ["u1", "u2"]
        assert [batch.number for batch in whole.batches.all()] == [1, 2, 3, 4]
        assert [row.record.unit_id for row in whole.current("score")] == ["u1", "u2"]
        assert whole.counts("score").balances


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE run_attempts SET body = '{'",
        "UPDATE run_attempts SET body = 7",
        "UPDATE run_attempts SET origin = 'lodel'",
        "UPDATE run_calls SET body = '{}'",
        "UPDATE run_units SET context = X'FF'",
    ],
)
def test_damaged_rows_are_not_appended(tmp_path: Path, damage: str) -> None:
    with new_run(tmp_path / "part", ["u1"], context=LONG.encode()) as part:
        keep(part, call(sent=SENT))
        part.record([attempt("u1", raw=LONG)])
    with closing(sqlite3.connect(tmp_path / "part/ledger.sqlite")) as file, file:
        triggers = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        kept = triggers.fetchall()
        for name, _ in kept:
            file.execute(f"DROP TRIGGER {name}")
        file.execute(damage)
        for _, made in kept:
            file.execute(made)
    with (
        RunStore.open(tmp_path / "part") as part,
        new_run(tmp_path / "whole", []) as whole,
        pytest.raises(LedgerUnusable),
    ):
        append_rows(
            whole.rows,
            part.rows,
            number_of=lambda number: number,
            digest_of=lambda _, content: content.decode(),
        )
    with RunStore.open(tmp_path / "whole") as whole:
        assert whole.units.ids() == []
