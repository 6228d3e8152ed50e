import itertools
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain import normal_form
from ai_psychiatrist.domain.normal_form import nfkc

BOUNDARY = "\u034f"
MARKS = "\u0301\u0316\u0327\u0344\u0345\u0f73\u3099\uff9e\u0334\U0001d165"
BASES = "aé\u1ea9ｶか\U0001d15e\u1100\u1161\ufdfa \n\u200d☺"


@given(st.text())
def test_text_without_long_runs_is_plain_nfkc(text: str) -> None:
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


@given(st.lists(st.sampled_from(BASES + MARKS * 3), max_size=120).map("".join))
def test_normalising_is_idempotent_and_runs_are_short(text: str) -> None:
    once = nfkc(text)

    assert nfkc(once) == once
    assert _longest_run(once) <= 30
    if _longest_run(text) <= 30:
        assert once == unicodedata.normalize("NFKC", text)
    assert sorted(_decomposed(once).replace(BOUNDARY, "")) == sorted(_decomposed(text))


@pytest.mark.parametrize("base", ["a", "é", "\U0001d15f", "か", "", " "])
def test_run_of_any_two_marks_is_broken(base: str) -> None:
    for first, second in itertools.product(MARKS, repeat=2):
        normal = nfkc(base + first * 40 + second * 40)

        assert _longest_run(normal) <= 30
        assert nfkc(normal) == normal


def test_long_run_of_marks_out_of_order_is_normalised() -> None:
    """Plain NFKC holds the interpreter for 40 s with a text of 60,000 characters."""
    normal = nfkc("a" + "\u0301" * 30_000 + "\u0316" * 30_000)

    assert len(normal) - normal.count(BOUNDARY) == 60_000
    assert _longest_run(normal) == 30


def test_every_mark_counts_as_one() -> None:
    """A character that is nothing but marks is not overlooked, and none is more than two."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if not unicodedata.decomposition(character) and not unicodedata.combining(character):
            continue
        decomposed = unicodedata.normalize("NFKD", character)
        if all(map(unicodedata.combining, decomposed)):
            assert len(decomposed) <= 2
            assert re.fullmatch(normal_form._MARKS, character * 12)


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in _decomposed(text):
        run = run + 1 if unicodedata.combining(character) else 0
        longest = max(longest, run)
    return longest


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFKD", text)
