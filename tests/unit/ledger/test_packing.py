"""Words are packed in a ledger, and whatever reads them gets them as they came."""

import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.fakes.ledger_words import words_in
from tests.fakes.ledgers import attempt, call, keep, new_ledger, recalled

from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.ledger.keys.packing import packed, unpacked
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.ledger.store.places import PartPlace
from ai_psychiatrist.store.errors import LedgerUnusable

LONG = "I hardly sleep, and that nearly every day. " * 40
SENT = (RequestMessage("system", LONG), RequestMessage("user", f"before {LONG} behind"))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"short", id="short"),
        pytest.param(LONG.encode(), id="long"),
        pytest.param(("\ud800" * 200).encode("utf-8", "surrogatepass"), id="half characters"),
        pytest.param(bytes(range(256)) * 2, id="all bytes"),
        pytest.param(b"\xff", id="the mark"),
        pytest.param(packed(LONG.encode()), id="packed before"),
        pytest.param(b"\xff" * 1_000_000, id="nothing but marks"),
        pytest.param(b"a" * 1_000_000, id="one letter"),
    ],
)
def test_what_is_packed_comes_back(content: bytes) -> None:
    assert unpacked(packed(content)) == content


@pytest.mark.parametrize("count", [100, 1_000, 10_000, 1_000_000])
def test_what_is_kept_is_never_much_smaller_than_the_words(count: int) -> None:
    assert len(packed(b"a" * count)) >= count / 64


def zeros(count: int) -> bytes:
    """Return what so many zeros are packed to."""
    return b"\xff" + zlib.compress(bytes(count), 9, 13)


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(b"\xff", id="nothing behind the mark"),
        pytest.param(packed(LONG.encode())[:-1], id="cut off"),
        pytest.param(packed(LONG.encode()) + b"x", id="more behind it"),
        pytest.param(b"\xff" + LONG.encode(), id="no packing"),
        pytest.param(zeros(10_000_000), id="more than fits"),
    ],
)
def test_what_cannot_be_unpacked_is_damage(kept: bytes) -> None:
    with pytest.raises(LedgerUnusable, match="a row is damaged"):
        unpacked(kept)


def test_a_changed_bit_gives_no_other_words() -> None:
    """What fills the last byte up may be changed; a changed mark is no packing any more."""
    kept = packed(LONG.encode())
    for place in range(8, 8 * len(kept)):
        changed = bytearray(kept)
        changed[place // 8] ^= 1 << place % 8
        with suppress(LedgerUnusable):
            assert unpacked(bytes(changed)) == LONG.encode()


def fill(run: Path) -> Ledger:
    """Return a ledger with long words wherever words can be."""
    ledger = new_ledger(run, ["u1"])
    ledger.units.add("u2", context=LONG.encode(), context_digest="d")
    ledger.units.add_input("u1", "score", LONG.encode())
    keep(ledger, call(LONG, sent=SENT), unit_id="u2")
    ledger.record([attempt("u1", raw=LONG, output={"quote": LONG})])
    return ledger


def assert_all_there(ledger: Ledger) -> None:
    """Read everything that `fill` wrote."""
    assert ledger.units.step_context("u2", "score") == LONG.encode()
    assert ledger.units.step_context("u1", "score") == LONG.encode()
    assert recalled(ledger, unit_id="u2") == call(LONG, sent=SENT)
    assert ledger.history("u1", "score") == [attempt("u1", raw=LONG, output={"quote": LONG})]


def test_long_words_take_less_than_half_and_are_found_only_when_unpacked(tmp_path: Path) -> None:
    with fill(tmp_path) as ledger:
        assert_all_there(ledger)
    path = tmp_path / "ledger.sqlite"
    assert LONG.encode() not in path.read_bytes()
    assert LONG.encode() in words_in(path)
    with closing(sqlite3.connect(path)) as connection:
        ((size,),) = connection.execute("SELECT LENGTH(reply) + LENGTH(sent) FROM calls")
    assert size < 3 * len(LONG) / 2


def as_before_packing(run: Path) -> None:
    """Make of a ledger what the version before packing would have left."""
    places = {"units": ["context"], "inputs": ["context"], "calls": ["sent", "reply"]}
    places["attempts"] = ["errors", "warnings", "coercions", "raw", "output"]
    with closing(sqlite3.connect(run / "ledger.sqlite")) as connection, connection:
        connection.create_function("unpacked", 1, lambda value: value and unpacked(value))
        for table, columns in places.items():
            connection.execute(f"DROP TRIGGER {table}_refuse_update")
            changes = ", ".join(f"{column} = unpacked({column})" for column in columns)
            connection.execute(f"UPDATE {table} SET {changes}")  # noqa: S608  the names above
        connection.execute("ALTER TABLE calls DROP COLUMN hosts")
        connection.execute("UPDATE meta SET value = 5 WHERE key = 'schema_version'")


@pytest.mark.parametrize("is_read_only", [True, False])
def test_a_ledger_of_the_version_before_is_read_and_gone_on_with(
    tmp_path: Path, *, is_read_only: bool
) -> None:
    fill(tmp_path).close()
    as_before_packing(tmp_path)
    assert LONG.encode() in (tmp_path / "ledger.sqlite").read_bytes()
    with Ledger.open(tmp_path, is_read_only=is_read_only) as ledger:
        assert_all_there(ledger)
        if not is_read_only:
            keep(ledger, call(LONG, digest="d2", sent=SENT), unit_id="u2")
            assert recalled(ledger, "d2", unit_id="u2") == call(LONG, digest="d2", sent=SENT)


def test_parts_of_both_versions_become_one(tmp_path: Path) -> None:
    for number in (1, 2):
        run = tmp_path / str(number)
        with new_ledger(run, [f"u{number}"], context=LONG.encode()) as part:
            keep(part, call(LONG, sent=SENT), unit_id=f"u{number}")
    as_before_packing(tmp_path / "1")
    with new_ledger(tmp_path / "whole", []) as whole:
        for number in (1, 2):
            place = PartPlace(number=number, of=2)
            with Ledger.open(tmp_path / str(number)) as part:
                whole.take_rows(part.rows(place, first=1, last=1, digest=None))
        for number in (1, 2):
            assert recalled(whole, unit_id=f"u{number}") == call(LONG, sent=SENT)
            assert whole.units.step_context(f"u{number}", "score") == LONG.encode()
