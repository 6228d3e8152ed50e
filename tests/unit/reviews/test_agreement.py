import json

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from tests.unit.reviews.rated import case, committed

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.reviews.agreement import agreement
from ai_psychiatrist.reviews.agreement_measures import RatedCase

FIRST = Item.NO_INTEREST.value
RISING = [0, 1, 2, 3, 0, 1, 2, 3]


def drawn(count: int, raters: int = 2, *, seed: int = 0, unknown: float = 0.1) -> list[RatedCase]:
    """Return cases in which everybody errs by a point now and then."""
    random = np.random.default_rng(seed)

    def scores(truth: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> list[int | None]:
        said = np.clip(truth + random.choice([-1, 0, 0, 1], size=8), 0, 3)
        return [None if random.random() < unknown else int(one) for one in said]

    cases = []
    for place in range(count):
        truth = random.integers(0, 4, size=8)
        said = {f"r{rater}": committed(scores(truth)) for rater in range(raters)}
        cases.append(case(scores(truth), said, subject=f"s{place}"))
    return cases


def both_scored(cases: list[RatedCase], one: str, other: str) -> tuple[list[int], list[int]]:
    pairs = [
        (first.score, second.score)
        for rated in cases
        for first, second in zip(
            rated.committed[one].items,
            rated.program if other == "program" else rated.committed[other].items,
            strict=True,
        )
    ]
    known = [(first, second) for first, second in pairs if None not in (first, second)]
    return [one or 0 for one, _ in known], [other or 0 for _, other in known]


def test_no_cases_have_no_figures_and_say_why() -> None:
    found = agreement([])
    figures = found.blind.raters.all_items
    assert (found.cases, found.blind.subjects, figures.kappa.value) == (0, 0, None)
    assert figures.kappa.reason == "no item has scores of both"
    assert "NaN" not in found.model_dump_json()


def test_kappas_are_those_of_another_library() -> None:
    cases = drawn(30)
    found = agreement(cases).blind
    for comparison, other in ((found.raters, "r1"), (found.program, "program")):
        kappas = [
            (
                cohen_kappa_score(*both_scored(cases, rater, other), weights="quadratic"),
                len(both_scored(cases, rater, other)[0]),
            )
            for rater in (("r0",) if other == "r1" else ("r0", "r1"))
        ]
        mean = sum(kappa * count for kappa, count in kappas) / sum(count for _, count in kappas)
        assert comparison.all_items.kappa.value == pytest.approx(mean)
        assert [pair.kappa.value for pair in comparison.pairs] == [
            pytest.approx(kappa) for kappa, _ in kappas
        ]


def test_three_raters_are_three_pairs_and_one_alpha() -> None:
    found = agreement(drawn(20, raters=3)).blind.raters
    assert {(pair.first, pair.second) for pair in found.pairs} == {
        ("rater 1", "rater 2"),
        ("rater 1", "rater 3"),
        ("rater 2", "rater 3"),
    }
    low, high = (end(pair.kappa.value or 0 for pair in found.pairs) for end in (min, max))
    assert low <= (found.all_items.kappa.value or 0) <= high
    assert found.all_items.answers.both + found.all_items.answers.one > 0
    assert found.all_items.exact.n == 3 * 20 * 8


def test_pairs_beyond_the_most_common_ones_are_counted_together() -> None:
    found = agreement(drawn(12, raters=5)).blind.raters
    assert (found.pairs[-1].first, found.pairs[-1].second) == ("others", "others")
    assert sum(pair.cases for pair in found.pairs) == 12 * 10
    assert found.all_items.exact.n == 12 * 10 * 8


def test_cannot_tell_is_an_answer_of_its_own_and_no_score() -> None:
    said = committed([None, None, 1, 1, 1, 1, 1, 2])
    found = agreement([case([None, 3, None, 1, 1, 1, 1, 1], {"one": said})])
    figures = found.blind.program.all_items
    assert (figures.answers.both, figures.answers.one, figures.answers.none) == (5, 2, 1)
    assert (figures.exact.value, figures.exact.n) == (5 / 8, 8)
    assert (figures.exact_scored.value, figures.exact_scored.n) == (4 / 5, 5)
    assert figures.kappa.n == 5


def test_ratings_made_after_the_scores_were_shown_stand_apart() -> None:
    seen = committed(RISING, phase=ReviewPhase.SEEN)
    found = agreement([case(RISING, {"one": committed([3] * 8), "two": seen})])
    assert (found.blind.cases, found.seen.cases, found.mixed_pairs) == (1, 1, 1)
    assert found.blind.raters.all_items.exact.n == 0
    assert found.seen.program.all_items.exact.value == 1
    assert found.blind.program.all_items.exact.value == 2 / 8
    assert [(one.blind, one.seen) for one in found.raters] == [(1, 0), (0, 1)]


def test_the_random_tenth_has_figures_of_its_own() -> None:
    hard = case([3] * 8, {"one": committed([0] * 8)})
    drawn_at_random = case(RISING, {"one": committed(RISING)}, is_random=True)
    found = agreement([hard, drawn_at_random])
    assert found.blind.program.all_items.exact.value == 1 / 2
    assert (found.random_tenth.cases, found.random_tenth.program.all_items.exact.value) == (1, 1)


def test_evidence_agrees_by_characters_and_by_stretches_of_the_same_item() -> None:
    said = {"one": committed(RISING, (0, 10), (20, 30)), "two": committed(RISING, (5, 15))}
    figures = agreement([case(said=said, program_spans=[(100, 110)])]).blind.raters
    assert figures.items[FIRST].span_characters.value == pytest.approx(2 * 5 / 30)
    assert figures.items[FIRST].span_overlap.value == pytest.approx(2 / 3)
    assert (figures.all_items.marks.both, figures.all_items.marks.none) == (1, 7)
    sleep = figures.items[Item.SLEEP.value].span_characters
    assert (sleep.value, sleep.reason) == (None, "no one marked evidence")


def test_who_marks_no_words_at_all_has_no_agreement_of_evidence_rather_than_none() -> None:
    said = {"one": committed(RISING, (0, 10)), "two": committed(RISING)}
    found = agreement([case(said=said, program_spans=[(100, 110)])]).blind
    one_side = "one of the two sides marked no evidence at all"
    for figures in (found.raters.all_items, found.raters.items[FIRST]):
        assert (figures.span_characters.value, figures.span_characters.reason) == (None, one_side)
        assert (figures.span_overlap.value, figures.span_overlap.reason) == (None, one_side)
    assert found.program.items[FIRST].span_characters.value == 0


def test_subjects_and_not_cases_carry_the_intervals() -> None:
    many = drawn(24)
    few = [
        RatedCase(
            subject=f"s{place // 3}",
            program=one.program,
            committed=one.committed,
            is_random=one.is_random,
        )
        for place, one in enumerate(many)
    ]
    assert agreement(many).blind.raters.all_items.kappa.interval is not None
    few_found = agreement(few).blind
    assert (few_found.subjects, few_found.raters.all_items.kappa.interval) == (8, None)
    assert "it rests on 8 participants" in (few_found.raters.all_items.kappa.reason or "")


def test_one_value_everywhere_has_no_kappa_and_no_alpha_but_a_reason() -> None:
    said = dict.fromkeys(("one", "two"), committed([0] * 8))
    figures = agreement([case(said=said)]).blind.raters.all_items
    assert (figures.kappa.value, figures.alpha.value, figures.exact.value) == (None, None, 1)
    assert "only one value occurs" in (figures.kappa.reason or "")


def test_raters_are_numbered_and_not_named() -> None:
    found = agreement(drawn(3), you="r1")
    assert [(one.label, one.is_you) for one in found.raters] == [
        ("rater 1", False),
        ("rater 2", True),
    ]
    assert '"r0"' not in json.dumps(found.model_dump(mode="json"))


@pytest.mark.parametrize("withheld", [0, 3])
def test_cases_that_the_caller_may_not_see_are_counted(withheld: int) -> None:
    assert agreement([], withheld=withheld).withheld == withheld


def test_the_same_cases_give_the_same_bytes() -> None:
    assert agreement(drawn(15)).model_dump_json() == agreement(drawn(15)).model_dump_json()
