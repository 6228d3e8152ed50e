"""Spoken words as they are compared."""

import pytest

from ai_psychiatrist.services.language.spoken import spoken


def test_words_keep_their_offsets_under_invisible_characters() -> None:
    text = "\ufeffI feel hope\u200bless"
    words = spoken(text)
    assert words.texts == ("i", "feel", "hopeless")
    assert [text[start:end] for start, end in words.spans] == ["I", "feel", "hope\u200bless"]


@pytest.mark.parametrize(
    ("word", "normalised"),
    [("Don’t", "dont"), ("I'm", "im"), ("I'll", "i'll"), ("we're", "we're"), ("CAN'T", "cant")],
)
def test_apostrophes_go_unless_another_word_would_appear(word: str, normalised: str) -> None:
    assert spoken(word).texts == (normalised,)
