"""Keys by a clock that the test moves."""

import hmac
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.access import WARD, Access, Clock, made_up_key

from ai_psychiatrist.access.keys import KeyRequest
from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.store.opening import KEYS_NAME

DAY = 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(tmp_path: Path, clock: Clock) -> Iterator[Access]:
    opened = Access(tmp_path / "state", clock)
    yield opened
    opened.close()


def test_a_key_is_found_by_its_text_and_has_what_was_wanted(access: Access) -> None:
    made = access.keys.create(WARD)
    found = access.keys.find(made.text)
    assert found is not None
    assert (found.principal.tenant, found.principal.scopes) == ("clinic-1", WARD.scopes)
    assert found.principal.id == f"key:{made.key.id}"


def test_a_key_has_256_random_bits_and_no_two_are_alike(access: Access) -> None:
    made = [access.keys.create(WARD) for _ in range(20)]
    assert len({one.text for one in made}) == 20
    assert {len(one.text.split("_", 2)[2]) for one in made} == {43}
    assert "aip_" not in repr(made)


@pytest.mark.parametrize(
    "text",
    [
        *("", "aip_", "aip_{id}_short"),
        "aip_{id}_" + "é" * 43,
        "AIP_{id}_{secret}",
        "aip_{id}_{secret}\n",
        " aip_{id}_{secret}",
        "aip_{id}_{secret}a",
    ],
)
def test_what_is_not_written_like_a_key_is_none(access: Access, text: str) -> None:
    _, key_id, secret = access.keys.create(WARD).text.split("_", 2)
    assert access.keys.find(text.format(id=key_id, secret=secret)) is None


def test_the_file_is_private_and_holds_no_secret(tmp_path: Path, access: Access) -> None:
    made = access.keys.create(WARD)
    access.sessions.begin(made.key)
    access.close()
    written = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    secret = made.text.split("_", 2)[2].encode()
    assert secret not in written
    assert sha256(secret).digest() in written
    for path in (tmp_path / "state").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_others_can_read_is_refused(tmp_path: Path, access: Access) -> None:
    access.keys.create(WARD)
    access.close()
    (tmp_path / "state" / KEYS_NAME).chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        access.keys.all()


def other_secret(text: str) -> str:
    return text[:17] + made_up_key()[17:]


def other_id(text: str) -> str:
    return made_up_key()[:17] + text[17:]


@pytest.mark.parametrize("change", [other_secret, other_id])
def test_an_unknown_id_and_a_wrong_secret_are_compared_alike(
    access: Access, monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]
) -> None:
    made = access.keys.create(WARD)
    compared: list[tuple[int, int]] = []
    really = hmac.compare_digest

    def noted(given: bytes, expected: bytes) -> bool:
        compared.append((len(given), len(expected)))
        return really(given, expected)

    monkeypatch.setattr(hmac, "compare_digest", noted)
    assert access.keys.find(change(made.text)) is None
    assert compared == [(32, 32)]


def test_a_key_lasts_as_long_as_it_was_made_for(access: Access, clock: Clock) -> None:
    lasting = KeyRequest(name="w", tenant="t", scopes=WARD.scopes, lasts_seconds=DAY)
    made = access.keys.create(lasting)
    clock.now += DAY - 1
    assert access.keys.find(made.text) is not None
    clock.now += 1
    assert access.keys.find(made.text) is None


def test_a_revoked_key_opens_nothing_and_stays_listed(access: Access, clock: Clock) -> None:
    made = access.keys.create(WARD)
    session = access.sessions.begin(made.key)
    first = access.keys.revoke(made.key.id).revoked_at
    clock.now += 5
    assert access.keys.revoke(made.key.id).revoked_at == first
    assert access.keys.find(made.text) is None
    assert access.sessions.find(session.token, takes_raters=True) is None
    assert [key.id for key in access.keys.all()] == [made.key.id]


def test_the_last_use_is_noted_once_a_minute(access: Access, clock: Clock) -> None:
    made = access.keys.create(WARD)
    began = clock.now
    for seconds, noted in ((0, 0), (59, 0), (60, 60), (100, 60), (121, 121)):
        clock.now = began + seconds
        access.keys.find(made.text)
        assert access.keys.get(made.key.id).used_at == began + noted


def test_a_holder_has_two_keys_at_most_and_stays_the_same(access: Access, clock: Clock) -> None:
    old = access.keys.create(WARD)
    following = access.keys.create_like(old.key.id, lasts_seconds=DAY)
    assert following.key.principal == old.key.principal
    assert access.keys.find(old.text) is not None
    assert access.keys.find(following.text) is not None
    with pytest.raises(InputError, match="revoke one first"):
        access.keys.create_like(old.key.id)
    access.keys.revoke(old.key.id)
    third = access.keys.create_like(old.key.id)
    assert third.key.principal == old.key.principal
    clock.now += DAY
    assert access.keys.create_like(old.key.id).key.principal == old.key.principal


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"tenant": tenant}, "tenant")
        for tenant in ("", "../x", "A", "a_b", "-a", "a-", "a" * 64, "a\n", "é")
    ]
    + [({"name": name}, "name") for name in ("", " ", "a\nb", "a" * 101, "\x1b[2J")]
    + [({"scopes": frozenset()}, "scope")],
)
def test_a_key_of_wrong_form_is_refused(wanted: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as raised:
        replace(WARD, **wanted)
    assert raised.value.field == field
