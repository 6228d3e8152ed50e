import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.statistics.span_overlap import Marks, marks_of, overlap

Spans = list[tuple[int, int, int]]
"""Text, start, end."""


def marks(spans: Spans) -> Marks:
    texts, starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    return marks_of(texts, starts, ends)


@pytest.mark.parametrize(
    ("one", "other", "characters", "marked", "met", "stretches"),
    [
        pytest.param([(0, 0, 10)], [(0, 0, 10)], 10, 20, 2, 2, id="the same"),
        pytest.param([(0, 0, 10)], [(0, 5, 15)], 5, 20, 2, 2, id="half"),
        pytest.param([(0, 0, 10)], [(0, 10, 20)], 0, 20, 0, 2, id="side by side"),
        pytest.param([(0, 0, 10)], [(1, 0, 10)], 0, 20, 0, 2, id="in another text"),
        pytest.param([(0, 0, 10)], [], 0, 10, 0, 1, id="by one alone"),
        pytest.param([], [], 0, 0, 0, 0, id="by nobody"),
        pytest.param([(0, 0, 9), (0, 0, 9)], [(0, 3, 6)], 3, 12, 2, 2, id="twice the same"),
        pytest.param([(0, 0, 4), (0, 4, 9)], [(0, 0, 9)], 9, 18, 2, 2, id="in two parts"),
        pytest.param([(0, 0, 2), (0, 7, 9)], [(0, 1, 8)], 2, 11, 3, 3, id="two in one"),
        pytest.param([(0, 3, 3)], [(0, 0, 9)], 0, 9, 0, 1, id="empty"),
    ],
)
def test_marks_share_what_both_cover(
    one: Spans, other: Spans, characters: int, marked: int, met: int, stretches: int
) -> None:
    found = overlap(marks(one), marks(other), texts=2)
    sums = [part.sum() for part in (found.characters, found.marked, found.met, found.stretches)]
    assert sums == [characters, marked, met, stretches]


def test_texts_are_counted_by_who_marked_anything_in_them() -> None:
    found = overlap(marks([(0, 0, 5), (1, 0, 5)]), marks([(1, 9, 12)]), texts=3)
    assert found.by_first.tolist() == [True, True, False]
    assert found.by_second.tolist() == [False, True, False]


span = st.tuples(st.integers(0, 2), st.integers(0, 25), st.integers(0, 25))


@given(st.lists(span), st.lists(span))
def test_shared_characters_are_those_of_sets_of_characters(one: Spans, other: Spans) -> None:
    def characters(spans: Spans) -> list[set[int]]:
        return [
            {place for text, start, end in spans if text == t for place in range(start, end)}
            for t in range(3)
        ]

    found = overlap(marks(one), marks(other), texts=3)
    sides = list(zip(characters(one), characters(other), strict=True))
    assert found.characters.tolist() == [len(a & b) for a, b in sides]
    assert found.marked.tolist() == [len(a) + len(b) for a, b in sides]
