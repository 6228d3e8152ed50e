"""The interview that a first visit sees."""

from ai_psychiatrist.api.page_cohort import example_text


def test_the_packaged_example_is_the_one_of_the_repository(example_interview: str) -> None:
    assert example_text() == example_interview
