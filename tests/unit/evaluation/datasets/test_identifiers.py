import pytest

from ai_psychiatrist.evaluation.datasets.names import LONGEST, identifier_of, split_name


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        (" 300 ", "300"),
        ("mts-TrainingSet-121", "mts-TrainingSet-121"),
        ("x" * LONGEST, "x" * LONGEST),
        ("", None),
        ("x" * (LONGEST + 1), None),
        ("300,2\n301,I feel tired", None),
        ("300\u2028I feel tired", None),
    ],
    ids=["spaces", "name", "longest", "empty", "too long", "two lines", "separator"],
)
def test_only_a_short_single_line_names_a_unit(text: str, identifier: str | None) -> None:
    assert identifier_of(text) == identifier


@pytest.mark.parametrize("value", ["", "i feel tired", "train\n", 3, None, "x" * 33])
def test_words_name_no_split(value: object) -> None:
    assert split_name(value) is None


def test_one_word_names_a_split() -> None:
    assert split_name("train-a") == "train-a"
