"""Intraclass correlations and limits of agreement against published figures and plain loops."""

from dataclasses import replace
from statistics import mean, stdev

import numpy as np
import pytest
from tests.unit.reviews.rated import case, committed

from ai_psychiatrist.reviews import intraclass as module
from ai_psychiatrist.reviews.agreement import agreement
from ai_psychiatrist.reviews.intraclass import intraclass, limits_of_agreement

# Shrout & Fleiss 1979, table 2: six targets, four judges.
PUBLISHED = [
    [9.0, 2, 5, 8],
    [6.0, 1, 3, 2],
    [8.0, 4, 6, 8],
    [7.0, 1, 2, 6],
    [10.0, 5, 6, 9],
    [6.0, 2, 4, 7],
]
FORMS = ("ICC(2,1)", "ICC(3,1)")


def by_loops(table: list[list[float]]) -> tuple[float, float]:
    """Return both forms from sums of squares that are added up one by one."""
    count, raters = len(table), len(table[0])
    whole = mean(cell for row in table for cell in row)
    columns = [mean(row[at] for row in table) for at in range(raters)]
    between = sum(raters * (mean(row) - whole) ** 2 for row in table) / (count - 1)
    of_raters = sum(count * (one - whole) ** 2 for one in columns) / (raters - 1)
    left = sum(
        (cell - mean(row) - columns[at] + whole) ** 2
        for row in table
        for at, cell in enumerate(row)
    ) / ((count - 1) * (raters - 1))
    consistent = (between - left) / (between + (raters - 1) * left)
    spread = between + (raters - 1) * left + raters * (of_raters - left) / count
    return (between - left) / spread, consistent


def test_published_figures_and_intervals_are_found() -> None:
    absolute, consistent = (
        intraclass(np.array(PUBLISHED), form=form, subjects=np.arange(6)) for form in FORMS
    )
    assert (round(absolute.value or 0, 2), round(consistent.value or 0, 2)) == (0.29, 0.71)
    assert absolute.interval == pytest.approx((0.02, 0.76), abs=0.005)
    assert consistent.interval == pytest.approx((0.34, 0.95), abs=0.005)
    assert (absolute.form, absolute.raters, absolute.subjects) == ("ICC(2,1)", 4, 6)


@pytest.mark.parametrize(("subjects", "raters"), [(2, 2), (7, 3), (40, 5)])
def test_random_tables_have_the_figures_of_plain_loops(subjects: int, raters: int) -> None:
    table = np.random.default_rng(subjects).integers(0, 25, size=(subjects, raters)).astype(float)
    found = [intraclass(table, form=form, subjects=np.arange(subjects)) for form in FORMS]
    assert [one.value for one in found] == [pytest.approx(one) for one in by_loops(table.tolist())]
    for one in found:
        low, high = one.interval or (-1, 1)
        assert low < (one.value or 0) < high
        assert (one.interval is None) == (one.reason is not None)
        assert one.interval is not None or subjects == 2


def test_what_would_be_no_correlation_is_not_given() -> None:
    """People who do not differ and raters who differ at random: a quotient of -3."""
    table = np.array([[0.0, 2.0], [2.0, 0.0], [1.0, 1.0]])
    assert by_loops(table.tolist())[0] == pytest.approx(-3)
    absolute, consistent = (intraclass(table, form=one, subjects=np.arange(3)) for one in FORMS)
    assert (absolute.value, absolute.interval) == (None, None)
    assert (absolute.reason or "").startswith("it cannot be told: the cases differ too little")
    assert consistent.value == pytest.approx(-1)


def test_an_interval_beyond_every_correlation_is_not_given() -> None:
    table = np.array([[20.0, 6.0], [2.0, 7.0]])
    found = intraclass(table, form="ICC(2,1)", subjects=np.arange(2))
    assert found.value == pytest.approx(by_loops(table.tolist())[0])
    assert found.interval is None
    assert "wider than all values" in (found.reason or "")


def test_a_case_with_an_unknown_score_is_left_out_and_counted() -> None:
    unknown = [8.0, np.nan, 1, 1]
    nobody = [np.nan] * 4
    found = intraclass(
        np.array([*PUBLISHED, unknown, nobody]), form="ICC(3,1)", subjects=np.arange(8)
    )
    assert (round(found.value or 0, 2), found.subjects, found.incomplete) == (0.71, 6, 1)


@pytest.mark.parametrize(
    ("table", "subjects", "value", "reason"),
    [
        ([[1.0, 2.0]], [0], None, "it needs two raters"),
        ([[1.0], [2.0]], [0, 1], None, "it needs two raters"),
        ([[1.0, 1.0], [1.0, 1.0]], [0, 1], None, "every score is the same"),
        ([[1.0, 2.0], [2.0, 3.0]], [0, 1], 1, "by the same in every case"),
        ([[1.0, 2.0], [2.0, 1.0], [4.0, 4.0]], [0, 0, 1], 0.8, "participants with one case each"),
    ],
    ids=["one case", "one rater", "all alike", "constant difference", "a participant twice"],
)
def test_what_is_not_defined_says_why(
    table: list[list[float]], subjects: list[int], value: float | None, reason: str
) -> None:
    found = intraclass(np.array(table), form="ICC(3,1)", subjects=np.array(subjects))
    assert found.value == (None if value is None else pytest.approx(value, abs=0.1))
    assert found.interval is None
    assert reason in (found.reason or "")


def test_without_scipy_the_value_is_given_and_the_interval_names_the_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    found = intraclass(np.array(PUBLISHED), form="ICC(2,1)", subjects=np.arange(6))
    assert found.value is not None
    assert (found.interval, "pip install scipy" in (found.reason or "")) == (None, True)


def test_limits_of_agreement_are_mean_and_two_deviations() -> None:
    pairs = [(10.0, 12), (8, 8), (15, 11), (20, np.nan), (3, 4)]
    differences = [-2.0, 0, 4, -1]
    found = limits_of_agreement(np.array(pairs))
    assert found.mean == pytest.approx(mean(differences))
    assert found.upper == pytest.approx(mean(differences) + 1.96 * stdev(differences))
    assert found.lower == pytest.approx(mean(differences) - 1.96 * stdev(differences))
    assert (found.n, found.incomplete) == (4, 1)
    assert limits_of_agreement(np.array(pairs[:1])).reason is not None


def test_totals_and_items_have_correlations_and_pairs_have_limits() -> None:
    """A total with an unknown item is no total; the item's own figure keeps the case."""
    draw = np.random.default_rng(1)
    cases = []
    for at in range(12):
        scores = draw.integers(0, 4, size=8).tolist()
        other = [min(3, one + int(draw.random() < 0.3)) for one in scores]
        said = {
            "one": committed(scores),
            "two": committed([None, *other[1:]] if at == 0 else other),
        }
        cases.append(case(scores, said, subject=f"s{at}"))
    found = agreement(cases).blind.raters
    assert (found.all_items.icc_2_1.subjects, found.all_items.icc_2_1.incomplete) == (11, 1)
    assert found.items["PHQ8_Sleep"].icc_3_1.subjects == 12
    (pair,) = found.pairs
    assert pair.limits is not None
    assert (pair.limits.n, (pair.limits.mean or 0) < 0) == (11, True)
    assert agreement(cases).blind.program.all_items.icc_2_1.raters == 3


def test_ratings_of_scores_alone_and_of_evidence_alone_count_where_they_say_something() -> None:
    marked = committed([None] * 8, (0, 10))
    scored = committed([1] * 8)
    cases = [
        case(
            [1] * 8,
            {
                "one": committed([1] * 8, (0, 10)),
                "marks": replace(marked, has_scores=False),
                "scores": replace(scored, has_evidence=False),
            },
        )
    ]
    figures = agreement(cases).blind.raters.all_items
    assert (figures.exact.n, figures.exact.value) == (8, 1)
    assert (figures.answers.both, figures.answers.none) == (8, 0)
    assert (figures.span_characters.value, figures.marks.both, figures.marks.none) == (1, 1, 7)
