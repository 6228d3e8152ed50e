"""The line that names the interviews that a person has to read."""

import pytest

from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.evaluation.reading_list import (
    MOST_NAMED,
    UnitDanger,
    reading_list,
    to_read_in_words,
)
from ai_psychiatrist.evaluation.scores.prediction import signs_to_read

NOTHING = "No interview has affirmed, hypothetical or unclear signs of danger at moderate or above."
FINE = UnitDanger("fine", 0, 0)


def line(*units: UnitDanger, requested: int | None = None) -> str:
    """Return the line of a run of these units."""
    asked = len(units) if requested is None else requested
    return to_read_in_words(reading_list(units, requested=asked))


def test_those_to_be_read_are_named_and_counted() -> None:
    told = line(UnitDanger("303", 2, 0), FINE, UnitDanger("310", 1, 4))
    assert told.startswith("A person has to read 2 interviews with affirmed, hypothetical or")
    assert told.endswith(": 303, 310.")


def test_a_long_list_is_cut_with_the_count_of_the_rest_and_where_it_is() -> None:
    many = [UnitDanger(str(number), 1, 0) for number in range(MOST_NAMED + 7)]
    told = line(*many)
    assert f": {', '.join(str(number) for number in range(MOST_NAMED))} and 7 more" in told
    assert "predictions.jsonl" in told


def test_there_is_nothing_only_where_all_was_read() -> None:
    assert line(FINE, FINE) == NOTHING


@pytest.mark.parametrize(
    ("units", "requested", "named"),
    [
        pytest.param([FINE, UnitDanger("306", 0, 3)], 2, "306", id="turns not examined"),
        pytest.param([FINE, UnitDanger("307", None, None)], 2, "1 not read", id="failed before"),
        pytest.param([FINE], 3, "2 not read", id="still to do"),
    ],
)
def test_what_was_not_read_never_reads_as_nothing(
    units: list[UnitDanger], requested: int, named: str
) -> None:
    told = line(*units, requested=requested)
    assert not told.startswith("No interview")
    assert "not all was read" in told
    assert named in told


@pytest.mark.parametrize(
    ("level", "count"),
    [(None, None), *((level, int(level.rank >= 3)) for level in RiskLevel)],
)
def test_predictions_without_a_count_are_told_by_their_level(
    level: RiskLevel | None, count: int | None
) -> None:
    assert signs_to_read(None, level) == count
    assert signs_to_read(2, level) == 2
