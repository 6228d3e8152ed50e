"""The sentences at the top of the report follow from the figures."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.unit.evaluation.metrics.built import labels, metrics, random_run, unit
from tests.unit.evaluation.report.built_report import TIMED_OUT, provenance

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.compute import compare_metrics
from ai_psychiatrist.evaluation.metrics.run_metrics import Better, RunMetrics, Scale
from ai_psychiatrist.evaluation.report.figure_rows import DifferenceRow, differences_of
from ai_psychiatrist.evaluation.report.groups import headline_of
from ai_psychiatrist.evaluation.report.sentences import reading_of
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction, failed_prediction
from ai_psychiatrist.statistics.figure import Figure


def _reading(found: RunMetrics, **dataset: object) -> str:
    record = {"dataset": dataset}
    sentences = reading_of(found, headline_of(found), provenance(record=record))
    return " ".join(sentences).replace("\u00a0", " ")


def test_a_perfect_run_says_nothing_of_abstaining() -> None:
    units = [unit(str(number), [number % 4] * 8) for number in range(8)]
    known = {str(number): labels([number % 4] * 8) for number in range(8)}
    said = _reading(metrics(units, known))
    assert said.startswith("8 conversations were assessed in full. The run scored 100 %")
    assert "mean distance from the label was 0.00" in said
    assert "charged" not in said
    assert "a leak of the labels" in said
    assert "undecidable" not in said


@pytest.mark.parametrize(
    ("not_read", "says"),
    [
        (1, "1 file or line of the dataset could not be read: no figure below counts it."),
        (12, "12 files or lines of the dataset could not be read: no figure below counts them."),
    ],
)
def test_what_of_the_dataset_was_not_read_is_said_and_nothing_where_all_was(
    not_read: int, says: str
) -> None:
    found = metrics([unit("a", [1] * 8)], {})
    assert says in _reading(found, not_read={"subfolder": not_read})
    assert "could not be read" not in _reading(found)


def test_conversations_with_turns_that_were_not_examined_are_said() -> None:
    units = [replace(unit(name, [1] * 8), turns_not_examined=count) for name, count in _UNREAD]
    assert "In 1 conversation there are turns in a language that is not read" in _reading(
        metrics(units, {})
    )


_UNREAD = (("a", 0), ("b", 3))


def test_abstaining_is_charged_and_said() -> None:
    units = [unit(str(number), [1] * 4 + [None] * 4) for number in range(4)]
    known = {str(number): labels([1] * 8) for number in range(4)}
    said = _reading(metrics(units, known))
    assert "The run scored 50 % of the labelled items and left the others unknown" in said
    assert "3 points, the mean error is 1.50: abstaining cannot improve this figure" in said
    assert "Only 4 labelled participants, and intervals need 10" in said


def test_small_runs_are_read_with_caution_and_large_ones_without() -> None:
    few, known = random_run(12, seed=1)
    assert "Only 12 participants have labels" in _reading(metrics(few, known))
    many = [unit(str(number), [1] * 8) for number in range(100)]
    truths = {str(number): labels([1] * 8) for number in range(100)}
    assert "Only" not in _reading(metrics(many, truths))


def test_wide_intervals_are_counted() -> None:
    units, known = random_run(12, seed=1)
    found = metrics(units, known)
    rows = [row for group in headline_of(found) for row in group.rows]
    wide = sum(row.is_wide for row in rows)
    assert 0 < wide < len(rows)
    assert f"{wide} of the " in _reading(found)
    assert "a leak of the labels" not in _reading(found)


def test_units_with_labels_and_no_prediction_are_said_to_have_failed() -> None:
    known = {name: labels([1] * 8) for name in "abc"}
    said = _reading(metrics([unit("a", [1] * 8)], known))
    assert "2 more have labels and no prediction: they count as failed" in said


@pytest.mark.parametrize(
    ("concerns_depression", "said"),
    [
        (False, "every symptom found is false evidence: that happened in 50 %"),
        (True, "A symptom was found in 50 %"),
    ],
    ids=["another subject", "subject not known"],
)
def test_evidence_without_labels_is_named_by_the_subject(
    concerns_depression: bool, said: str
) -> None:
    units = [unit(str(number), [number % 2] + [0] * 7) for number in range(10)]
    assert said in _reading(metrics(units, {}), concerns_depression=concerns_depression)


@pytest.mark.parametrize(
    ("failed", "is_flagged"), [(1, False), (2, True)], ids=["five per cent", "above"]
)
def test_failures_are_flagged_above_five_per_cent_of_the_units(
    failed: int, is_flagged: bool
) -> None:
    units: list[UnitPrediction] = [unit(f"u{number:02}", [1] * 8) for number in range(20 - failed)]
    units += [failed_prediction(f"f{number}", TIMED_OUT) for number in range(failed)]
    found = metrics(units, {})
    (kind,) = found.parts("failures", "kinds")
    assert kind.tree["is_frequent"] is is_flagged
    assert ("befell more than 5 %" in _reading(found)) is is_flagged


CHANGES = [
    {"version": "2", "git_commit": "b", "prompts": {"judge": "1"}, "contracts": {}},
    {"version": "2", "git_commit": "c", "prompts": {"judge": "2"}, "contracts": {}},
]


def test_accepted_changes_of_a_resumed_run_are_said_with_the_units_of_each() -> None:
    units = [
        replace(unit(str(number), [1] * 8), changes=after) for number, after in enumerate((0, 0, 2))
    ]
    record = {"version": "1", "git_commit": "a", "prompts": {"judge": "1"}, "contracts": {}}
    found = metrics(units, {})
    changed = provenance(units, {**record, "changes": CHANGES})
    said = " ".join(reading_of(found, (), changed))
    assert "accepted changes: 1) other version, git commit; 2) other git commit, prompts." in said
    assert "Of its units 2 were assessed before, 0 after 1, 1 after 2" in said
    assert "accepted changes" not in " ".join(reading_of(found, (), provenance(units, record)))
    blocks = {block.title: [entry.name for entry in block.entries] for block in changed.blocks}
    assert blocks["Change 1"] == ["version", "git commit"]
    assert blocks["Change 2"] == ["git commit", "prompts.judge"]


def test_variant_and_repeat_are_among_the_facts_where_the_record_has_them() -> None:
    record = {"mode": "zero-shot", "variant": "no_feedback", "repeat": 2}
    facts = {fact.name: fact.value for fact in provenance(record=record).facts}
    assert facts == {"Run": "first", "Mode": "zero-shot", "Variant": "no feedback", "Repeat": "2"}


def test_differences_are_judged_by_their_interval_and_direction() -> None:
    truth = [[(number + place) % 4 for place in range(8)] for number in range(20)]
    known = {str(number): labels(scores) for number, scores in enumerate(truth)}
    right = [unit(str(number), scores) for number, scores in enumerate(truth)]
    noisy = [
        unit(
            str(number),
            [
                min(3, score + 1) if place % (2 + number % 2) else score
                for place, score in enumerate(scores)
            ],
        )
        for number, scores in enumerate(truth)
    ]
    worse = _compared(right, noisy, known)
    better = _compared(noisy, right, known)
    same = _compared(right, right, known)
    assert worse["Mean error, unknown items charged"] == "second is worse"
    assert worse["Quadratic kappa"] == "second is worse"
    assert better["Mean error, unknown items charged"] == "second is better"
    assert same.pop("Balanced accuracy") == "cannot be told"
    assert {*same.values()} == {"no difference"}


@pytest.mark.parametrize(
    ("interval", "verdict", "shown"),
    [
        pytest.param((-0.0284, -0.0021), "second is better", "−0.028 to −0.002", id="apart"),
        pytest.param((-0.0284, -0.0004), "no difference shown", "−0.028 to 0.000", id="shown_as_0"),
        pytest.param((-0.0003, -0.0001), "no difference shown", "0.000 to 0.000", id="no_digit"),
    ],
)
def test_verdict_follows_the_interval_as_it_is_shown(
    interval: tuple[float, float], verdict: str, shown: str
) -> None:
    row = _difference(Figure(value=-0.01, interval=interval, n=9), (0.5, 0.49), Scale.ITEM_POINTS)
    assert (row.verdict, row.span) == (verdict, shown)


def test_difference_is_that_of_both_sides_as_they_are_shown() -> None:
    row = _difference(Figure(value=-0.05304, n=9), (0.63649, 0.58345), Scale.SHARE)
    assert (row.both, row.value) == (["63.6\u00a0%", "58.3\u00a0%"], "−5.3\u00a0pp")


def _difference(figure: Figure, sides: tuple[float, float], scale: Scale) -> DifferenceRow:
    return DifferenceRow(
        name="x", figure=figure, scale=scale, sides=sides, better=Better.LOWER, reach=1.0
    )


def _compared(
    first: list[UnitPrediction], second: list[UnitPrediction], known: Mapping[str, Labels]
) -> dict[str, str]:
    found = compare_metrics(first, second, known, resamples=100)
    return {row.name: row.verdict for row in differences_of(found, first="", second="").rows}
