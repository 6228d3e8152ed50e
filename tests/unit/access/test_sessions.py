"""Sessions, by a clock that the test moves."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.fakes.access import WARD, Access, Clock

from ai_psychiatrist.access.keys import KeyRequest
from ai_psychiatrist.access.sessions import (
    IDLE_SECONDS,
    LIFE_SECONDS,
    MOST_OF_ONE,
    MOST_SESSIONS,
    forgery_token,
    is_forgery_token,
    local_rater,
)
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.store.opening import KEYS_NAME


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def access(path: Path, clock: Clock) -> Iterator[Access]:
    opened = Access(path, clock)
    yield opened
    opened.close()


def lasts(access: Access, token: str) -> bool:
    return access.sessions.find(token, takes_raters=True) is not None


def test_a_session_ends_an_hour_after_its_last_use(access: Access, clock: Clock) -> None:
    token = access.sessions.begin(access.keys.create(WARD).key).token
    for _ in range(5):
        clock.now += IDLE_SECONDS - 1
        assert lasts(access, token)
    clock.now += IDLE_SECONDS
    assert not lasts(access, token)


def test_a_session_ends_twelve_hours_after_its_beginning_however_much_it_is_used(
    access: Access, clock: Clock
) -> None:
    token = access.sessions.begin(access.keys.create(WARD).key).token
    end = clock.now + LIFE_SECONDS
    while clock.now + 1800 < end:
        clock.now += 1800
        assert lasts(access, token)
    clock.now = end
    assert not lasts(access, token)


def test_a_session_outlives_a_restart_of_the_server(
    access: Access, path: Path, clock: Clock
) -> None:
    token = access.sessions.begin(access.keys.create(WARD).key).token
    access.close()
    assert lasts(Access(path, clock), token)


def test_a_session_ends_with_its_key(access: Access, clock: Clock) -> None:
    wanted = KeyRequest(name="w", tenant="t", scopes=frozenset({Scope.READ}), lasts_seconds=600)
    session = access.sessions.begin(access.keys.create(wanted).key)
    assert session.lasts_seconds == 600
    clock.now += 600
    assert not lasts(access, session.token)


def test_a_session_of_a_name_counts_only_where_no_key_is_asked_for(access: Access) -> None:
    token = access.sessions.begin_local("Rater A").token
    assert lasts(access, token)
    assert access.sessions.find(token, takes_raters=False) is None


def test_a_session_that_was_ended_is_over_and_no_other_is(access: Access) -> None:
    first, second = (access.sessions.begin_local(name).token for name in "AB")
    access.sessions.end(first)
    assert not lasts(access, first)
    assert lasts(access, second)


def test_many_logins_of_one_key_end_its_oldest_session_and_no_other(access: Access) -> None:
    first, second = (access.keys.create(WARD).key for _ in "12")
    others = [access.sessions.begin(second).token, access.sessions.begin_local("A").token]
    tokens = [access.sessions.begin(first).token for _ in range(MOST_OF_ONE + 2)]
    assert [lasts(access, token) for token in tokens] == [False] * 2 + [True] * MOST_OF_ONE
    assert all(lasts(access, token) for token in others)


def test_many_sessions_of_one_name_end_its_oldest_and_no_other(access: Access) -> None:
    other = access.sessions.begin_local("B").token
    tokens = [access.sessions.begin_local("A").token for _ in range(MOST_OF_ONE + 1)]
    assert [lasts(access, token) for token in tokens] == [False] + [True] * MOST_OF_ONE
    assert lasts(access, other)


def test_where_there_are_too_many_sessions_a_login_ends_one_of_its_own(
    access: Access, path: Path, clock: Clock
) -> None:
    oldest, own = (access.sessions.begin_local(name).token for name in "AB")
    with closing(sqlite3.connect(path / KEYS_NAME)) as connection, connection:
        connection.executemany(
            "INSERT INTO sessions (tenant, token_digest, rater, began_at, used_at) "
            "VALUES ('local', ?, ?, ?, ?)",
            ((bytes([n >> 8, n & 255]), f"{n}", clock.now, clock.now) for n in range(9_998)),
        )
        ((count,),) = connection.execute("SELECT COUNT(*) FROM sessions")
    assert count == MOST_SESSIONS
    again = access.sessions.begin_local("B").token
    assert [lasts(access, token) for token in (oldest, own, again)] == [True, False, True]
    access.sessions.begin_local("of nobody yet")
    assert [lasts(access, token) for token in (oldest, again)] == [False, True]


@pytest.mark.parametrize(
    ("name", "principal"),
    [("A", "local:a"), (" Rater  A ", "local:rater-a"), ("Zoë", "local:zoë"), ("b_2", "local:b-2")],
)
def test_the_same_name_is_the_same_rater(name: str, principal: str) -> None:
    assert local_rater(name).id == principal


@pytest.mark.parametrize("name", ["", " ", "--", "a" * 61, "a\x00b", "a\u202eb"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InputError) as raised:
        local_rater(name)
    assert raised.value.field == "rater"


def test_the_token_of_a_form_belongs_to_one_session(access: Access) -> None:
    first, second = (access.sessions.begin_local("A").token for _ in "12")
    assert is_forgery_token(forgery_token(first), first)
    assert not is_forgery_token(forgery_token(first), second)
    assert not is_forgery_token("é", first)
    assert first not in forgery_token(first)


@pytest.mark.parametrize("name", ["Program", " program ", "You", "ｙｏｕ "])
def test_nobody_takes_a_name_that_pages_give_to_others(name: str) -> None:
    with pytest.raises(InputError, match="another"):
        local_rater(name)
