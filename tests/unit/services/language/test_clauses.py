"""Where one statement ends and the next begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.services.language.clauses import clauses_of


@pytest.mark.parametrize(
    ("words", "clauses"),
    [
        ("I sleep fine but I feel sad", ["I sleep fine ", "but I feel sad"]),
        ("I'm sad. I can't sleep", ["I'm sad. ", "I can't sleep"]),
        ("Most days, I feel tired", ["Most days, I feel tired"]),
        ("when I was young, I slept", ["when I was young, I slept"]),
        ("I'm sad, I can't sleep", ["I'm sad,", " I can't sleep"]),
        ("I'm so tired and so sad", ["I'm so tired and so sad"]),
        ("it was 2.5 hours", ["it was 2.5 hours"]),
        ("", []),
    ],
)
def test_clauses_end_where_a_new_statement_begins(words: str, clauses: list[str]) -> None:
    assert [words[clause.start : clause.end] for clause in clauses_of(words)] == clauses


@given(st.text(alphabet="i 'tm.,!?\nand but’睡\u200b<-", max_size=900))
def test_clauses_tile_any_text_and_stay_short(words: str) -> None:
    clauses = clauses_of(words)
    assert "".join(words[clause.start : clause.end] for clause in clauses) == words
    assert all(0 < clause.end - clause.start <= 400 for clause in clauses)
