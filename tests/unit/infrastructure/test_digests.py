import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.infrastructure.digests import (
    derived_key,
    keyed_digest,
    load_installation_key,
    plain_digest,
    use_installation_key,
)

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
TEXT = "I wake up at four every night"


@pytest.fixture(autouse=True)
def _own_key() -> Iterator[None]:
    use_installation_key(KEY)
    yield
    use_installation_key(KEY)


def test_digest_is_the_same_under_one_key_and_differs_under_another() -> None:
    first = keyed_digest(TEXT)
    assert keyed_digest(TEXT) == first
    use_installation_key(OTHER_KEY)
    assert keyed_digest(TEXT) != first


def test_keyed_digest_is_no_plain_hash() -> None:
    assert keyed_digest(TEXT) != hashlib.sha256(TEXT.encode()).hexdigest()[:12]
    assert plain_digest(TEXT) == hashlib.sha256(TEXT.encode()).hexdigest()[:12]


@given(st.text(alphabet=st.characters(exclude_categories=[])), st.integers(1, 64))
def test_digest_of_any_text_has_the_length_asked_for(text: str, length: int) -> None:
    digest = keyed_digest(text, length=length)
    assert len(digest) == length
    assert set(digest) <= set("0123456789abcdef")


@pytest.mark.parametrize("key", [b"", b"k" * 15])
def test_short_key_is_refused(key: bytes) -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        use_installation_key(key)


def test_key_is_written_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "digest.key"
    key = load_installation_key(path)
    assert load_installation_key(path) == key
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["digest.key"]


def test_a_derived_key_is_that_of_the_standard() -> None:
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    for purpose in ("digests", "audit"):
        standard = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode())
        assert derived_key(KEY, purpose) == standard.derive(KEY)


def test_each_installation_gets_a_key_of_its_own(tmp_path: Path) -> None:
    assert load_installation_key(tmp_path / "a") != load_installation_key(tmp_path / "b")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"ab12", id="cut_off"),
        pytest.param(b"no hex digits", id="no_key"),
        pytest.param(b"\xff\xfe", id="no_text"),
    ],
)
def test_file_without_a_key_is_replaced(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "digest.key"
    path.write_bytes(content)
    path.chmod(0o600)
    key = load_installation_key(path)
    assert len(key) == 32
    assert load_installation_key(path) == key


def test_key_that_can_be_neither_read_nor_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(NotADirectoryError):
        load_installation_key(tmp_path / "file" / "digest.key")
