"""What rests in a ledger, and who can read it."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.run_words import words_in
from tests.fakes.runs import call, keep, new_run, recalled

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.store.cipher import Cipher, load_cipher
from ai_psychiatrist.store.run_records import AttemptRecord, Origin
from ai_psychiatrist.store.runs import RunStore

CANARY = "yellow-submarine-canary"


def key_file(folder: Path, digit: str = "a") -> Path:
    """Write a key and return its file."""
    path = folder / f"key-{digit}"
    path.write_text(digit * 64 + "\n", "ascii")
    return path


def telling(number: int = 1) -> AttemptRecord:
    """Return an attempt that holds the canary wherever words can be."""
    note = {"path": "$.score", "pointer": "/score", "rule": "range", "message": CANARY}
    coercion = {"path": "$.score", "before": CANARY, "after": 2, "before_type": "string"}
    return AttemptRecord(
        unit_id="u1",
        step="score",
        attempt=number,
        origin=Origin.MODEL,
        stage="validation",
        errors=(note,),
        warnings=(note,),
        coercions=(coercion,),
        raw=CANARY,
        output={"quote": CANARY},
    )


def fill(ledger: RunStore) -> None:
    """Write the canary wherever words can be."""
    ledger.units.add("u2", context=CANARY.encode(), context_digest="d")
    ledger.units.add_input("u1", "score", CANARY.encode())
    keep(ledger, call(CANARY))
    ledger.record([telling()])


def is_in_files(folder: Path) -> bool:
    """Return whether the canary stands in any file of a folder, packed or not."""
    is_in_bytes = any(CANARY.encode() in p.read_bytes() for p in folder.rglob("*") if p.is_file())
    return is_in_bytes or CANARY.encode() in words_in(folder / "ledger.sqlite")


def test_words_are_found_in_a_plain_ledger(tmp_path: Path) -> None:
    """Without this the tests below would pass for a canary that is never written."""
    with new_run(tmp_path / "run", ["u1"]) as ledger:
        fill(ledger)
        assert is_in_files(tmp_path / "run")


def test_no_word_is_readable_in_an_encrypted_ledger(tmp_path: Path) -> None:
    cipher = load_cipher(key_file(tmp_path))
    with new_run(tmp_path / "run", ["u1"], cipher=cipher) as ledger:
        fill(ledger)
        assert not is_in_files(tmp_path / "run")
    assert not is_in_files(tmp_path / "run")
    with RunStore.open(tmp_path / "run", cipher=load_cipher(key_file(tmp_path))) as ledger:
        assert ledger.history("u1", "score") == [telling()]
        assert ledger.units.step_context("u2", "score") == CANARY.encode()
        assert ledger.units.step_context("u1", "score") == CANARY.encode()
        assert recalled(ledger) == call(CANARY)


def test_the_same_words_are_encrypted_differently_each_time(tmp_path: Path) -> None:
    cipher = load_cipher(key_file(tmp_path))
    assert cipher.seal(b"same", place="a") != cipher.seal(b"same", place="a")


def test_an_encrypted_value_cannot_be_moved_to_another_unit(tmp_path: Path) -> None:
    cipher = load_cipher(key_file(tmp_path))
    sealed = cipher.seal(b"words", place="raw:u1")
    with pytest.raises(ConfigurationError, match="another key, or was changed"):
        cipher.unseal(sealed, place="raw:u2")


def other_key(folder: Path) -> Cipher:
    """Return a cipher with another key."""
    return load_cipher(key_file(folder, "b"))


@pytest.mark.parametrize(
    ("made_with", "opened_with", "cure"),
    [
        pytest.param("a", "b", "another key", id="another key"),
        pytest.param("a", None, "set DATA_KEY_FILE", id="no key"),
        pytest.param(None, "a", "unset DATA_KEY_FILE", id="a key for a plain run"),
    ],
)
def test_a_ledger_opens_with_its_own_key_alone(
    tmp_path: Path, made_with: str | None, opened_with: str | None, cure: str
) -> None:
    ciphers = [d and load_cipher(key_file(tmp_path, d)) for d in (made_with, opened_with)]
    new_run(tmp_path / "run", cipher=ciphers[0] or None).close()
    with pytest.raises(ConfigurationError, match=cure):
        RunStore.open(tmp_path / "run", cipher=ciphers[1] or None)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"aa" * 31, id="too short"),
        pytest.param(b"zz" * 32, id="no hexadecimal"),
        pytest.param(b"\xff" * 64, id="no text"),
    ],
)
def test_a_file_that_holds_no_key_is_refused_with_the_way_to_make_one(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="openssl rand -hex 32"):
        load_cipher(path)


def test_a_key_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="DATA_KEY_FILE cannot be read"):
        load_cipher(tmp_path / "key")
    assert not (tmp_path / "key").exists()


def test_a_run_without_raw_text_keeps_codes_places_and_digests(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1"], keeps_raw=False) as ledger:
        ledger.units.add("u2", context=CANARY.encode(), context_digest="d")
        ledger.units.add_input("u1", "score", CANARY.encode())
        keep(ledger, call(CANARY, input_tokens=3, output_tokens=4))
        ledger.record([replace_output(telling())])
    assert not is_in_files(tmp_path / "run")
    with RunStore.open(tmp_path / "run") as ledger:
        (made,) = ledger.history("u1", "score")
        assert (made.raw, made.stage, made.output) == (None, "validation", {"score": 2})
        assert made.errors[0] == {
            "path": "$.score",
            "pointer": "/score",
            "rule": "range",
            "message": "not kept",
        }
        assert ledger.units.step_context("u2", "score") is None


def replace_output(record: AttemptRecord) -> AttemptRecord:
    """Return an attempt whose object holds no words, as runs without raw text give it."""
    return replace(record, output={"score": 2})


def test_without_raw_text_a_call_is_not_given_back_and_is_counted_when_paid_again(
    tmp_path: Path,
) -> None:
    with new_run(tmp_path / "run", ["u1"], keeps_raw=False) as ledger:
        keep(ledger, call(input_tokens=3, output_tokens=4))
        kept = recalled(ledger)
        assert kept is not None
        assert kept.reply is None
        keep(ledger, call(input_tokens=3, output_tokens=5))
        assert [paid.output_tokens for paid in ledger.calls.of_attempt("u1", 1)] == [4, 5]


def test_records_show_no_words_when_they_are_printed() -> None:
    shown = repr([telling(), call(CANARY)])
    assert CANARY not in shown
