"""Lines of bytes."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.validation.jsonl.lines import read_lines


def lines_of(data: bytes, longest: int = 100) -> list[tuple[int, bytes | None]]:
    return [(line.number, line.content) for line in read_lines(io.BytesIO(data), longest=longest)]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"a\nb", [(1, b"a"), (2, b"b")], id="last_line_without_an_end"),
        pytest.param(b"a\r\n\r\nb\r\n", [(1, b"a"), (2, b""), (3, b"b")], id="crlf"),
        pytest.param(b"a\rb\x0bc\x85", [(1, b"a\rb\x0bc\x85")], id="other_line_ends"),
        pytest.param(
            b"\xef\xbb\xbfa\n\xef\xbb\xbfb", [(1, b"a"), (2, b"\xef\xbb\xbfb")], id="mark"
        ),
    ],
)
def test_lines_end_at_line_feeds_alone(data: bytes, lines: list[tuple[int, bytes]]) -> None:
    assert lines_of(data) == lines


def test_long_line_is_passed_over_to_its_end() -> None:
    data = b"abcde\n" + b"x" * 200_000 + b"\nabc\n" + b"y" * 6
    assert lines_of(data, longest=5) == [(1, b"abcde"), (2, None), (3, b"abc"), (4, None)]


@given(st.binary(max_size=200), st.integers(1, 20))
def test_sizes_tile_the_stream(data: bytes, longest: int) -> None:
    found = list(read_lines(io.BytesIO(data), longest=longest))
    assert sum(line.size for line in found) == len(data)
    ends_open = bool(data) and not data.endswith(b"\n")
    assert len(found) == data.count(b"\n") + ends_open
