"""Sessions, by a clock that the test moves."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.fakes.access import WARD, Clock

from ai_psychiatrist.access.access_file import FILE_NAME
from ai_psychiatrist.access.entrance import Entrance
from ai_psychiatrist.access.forgery_token import forgery_token, is_forgery_token
from ai_psychiatrist.access.keys import WantedKey
from ai_psychiatrist.access.sessions import (
    IDLE_SECONDS,
    LIFE_SECONDS,
    MOST_OF_ONE,
    MOST_SESSIONS,
    local_rater,
)
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import InputError


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / FILE_NAME


@pytest.fixture
def entrance(path: Path, clock: Clock) -> Iterator[Entrance]:
    opened = Entrance(path, clock)
    yield opened
    opened.close()


def lasts(entrance: Entrance, token: str) -> bool:
    return entrance.sessions.find(token, takes_raters=True) is not None


def test_a_session_ends_an_hour_after_its_last_use(entrance: Entrance, clock: Clock) -> None:
    token = entrance.sessions.begin(entrance.keys.create(WARD).key).token
    for _ in range(5):
        clock.now += IDLE_SECONDS - 1
        assert lasts(entrance, token)
    clock.now += IDLE_SECONDS
    assert not lasts(entrance, token)


def test_a_session_ends_twelve_hours_after_its_beginning_however_much_it_is_used(
    entrance: Entrance, clock: Clock
) -> None:
    token = entrance.sessions.begin(entrance.keys.create(WARD).key).token
    end = clock.now + LIFE_SECONDS
    while clock.now + 1800 < end:
        clock.now += 1800
        assert lasts(entrance, token)
    clock.now = end
    assert not lasts(entrance, token)


def test_a_session_outlives_a_restart_of_the_server(
    entrance: Entrance, path: Path, clock: Clock
) -> None:
    token = entrance.sessions.begin(entrance.keys.create(WARD).key).token
    entrance.close()
    assert lasts(Entrance(path, clock), token)


def test_a_session_ends_with_its_key(entrance: Entrance, clock: Clock) -> None:
    wanted = WantedKey(name="w", tenant="t", scopes=frozenset({Scope.READ}), lasts_seconds=600)
    session = entrance.sessions.begin(entrance.keys.create(wanted).key)
    assert session.lasts_seconds == 600
    clock.now += 600
    assert not lasts(entrance, session.token)


def test_a_session_of_a_name_counts_only_where_no_key_is_asked_for(entrance: Entrance) -> None:
    token = entrance.sessions.begin_local("Rater A").token
    assert lasts(entrance, token)
    assert entrance.sessions.find(token, takes_raters=False) is None


def test_a_session_that_was_ended_is_over_and_no_other_is(entrance: Entrance) -> None:
    first, second = (entrance.sessions.begin_local(name).token for name in "AB")
    entrance.sessions.end(first)
    assert not lasts(entrance, first)
    assert lasts(entrance, second)


def test_many_logins_of_one_key_end_its_oldest_session_and_no_other(entrance: Entrance) -> None:
    first, second = (entrance.keys.create(WARD).key for _ in "12")
    others = [entrance.sessions.begin(second).token, entrance.sessions.begin_local("A").token]
    tokens = [entrance.sessions.begin(first).token for _ in range(MOST_OF_ONE + 2)]
    assert [lasts(entrance, token) for token in tokens] == [False] * 2 + [True] * MOST_OF_ONE
    assert all(lasts(entrance, token) for token in others)


def test_many_sessions_of_one_name_end_its_oldest_and_no_other(entrance: Entrance) -> None:
    other = entrance.sessions.begin_local("B").token
    tokens = [entrance.sessions.begin_local("A").token for _ in range(MOST_OF_ONE + 1)]
    assert [lasts(entrance, token) for token in tokens] == [False] + [True] * MOST_OF_ONE
    assert lasts(entrance, other)


def test_where_there_are_too_many_sessions_a_login_ends_one_of_its_own(
    entrance: Entrance, path: Path, clock: Clock
) -> None:
    oldest, own = (entrance.sessions.begin_local(name).token for name in "AB")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(
            "INSERT INTO sessions VALUES (?, NULL, ?, ?, ?)",
            ((bytes([n >> 8, n & 255]), f"{n}", clock.now, clock.now) for n in range(9_998)),
        )
        ((count,),) = connection.execute("SELECT COUNT(*) FROM sessions")
    assert count == MOST_SESSIONS
    again = entrance.sessions.begin_local("B").token
    assert [lasts(entrance, token) for token in (oldest, own, again)] == [True, False, True]
    entrance.sessions.begin_local("of nobody yet")
    assert [lasts(entrance, token) for token in (oldest, again)] == [False, True]


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


def test_the_token_of_a_form_belongs_to_one_session(entrance: Entrance) -> None:
    first, second = (entrance.sessions.begin_local("A").token for _ in "12")
    assert is_forgery_token(forgery_token(first), first)
    assert not is_forgery_token(forgery_token(first), second)
    assert not is_forgery_token("é", first)
    assert first not in forgery_token(first)


@pytest.mark.parametrize("name", ["Program", " program ", "You", "ｙｏｕ "])
def test_nobody_takes_a_name_that_pages_give_to_others(name: str) -> None:
    with pytest.raises(InputError, match="another"):
        local_rater(name)
