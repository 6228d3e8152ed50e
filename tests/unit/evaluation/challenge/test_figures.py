"""Figures of systems whose answers are known, on a challenge made by hand and on a made one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.evaluation.challenge.made import knowing, read

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.figures import figures_of
from ai_psychiatrist.evaluation.challenge.folder import (
    Difficulty,
    EvidenceSpan,
    InterviewTruth,
    ItemTruth,
)
from ai_psychiatrist.evaluation.challenge.prediction import (
    ChallengePrediction,
    GivenQuote,
    ItemAnswer,
)
from ai_psychiatrist.evaluation.challenge.tally import (
    ABSTAINED,
    INVENTED,
    likely_outcomes,
    tally_of,
)
from ai_psychiatrist.statistics.figure import Figure

TEXT = "Participant: i lie awake every day. my mood is good. no more.\n"
AWAKE, GOOD = "i lie awake every day", "my mood is good"
UNKNOWN = ItemAnswer(score=None)


def span(words: str, polarity: Any = Polarity.AFFIRMED) -> EvidenceSpan:
    start = TEXT.index(words)
    return EvidenceSpan(start=start, end=start + len(words), polarity=polarity)


SCORES = [None, 0, 3, 1, 2, None, 0, 3]
"""Of the items in their order."""
OFTEN = span("no more").model_copy(update={"needed": False})
SPANS = {Item.SLEEP: (span(AWAKE), OFTEN), Item.DEPRESSED: (span(GOOD, Polarity.DENIED),)}
TRUTH = InterviewTruth(
    unit_id="a",
    participant="p",
    difficulty=Difficulty.PLAIN,
    noise=None,
    injected=None,
    items={
        item: ItemTruth(score=score, spans=SPANS.get(item, ()))
        for item, score in zip(Item, SCORES, strict=True)
    },
    danger=(),
    is_dangerous=False,
)


def answers(
    scores: Sequence[int | None],
    *,
    items: Mapping[Item, ItemAnswer] | None = None,
    danger: bool | None = None,
) -> ChallengePrediction:
    given = {item: ItemAnswer(score=score) for item, score in zip(Item, scores, strict=True)}
    return ChallengePrediction(unit_id="a", items=given | dict(items or {}), danger=danger)


def quoting(item: Item, *quotes: GivenQuote) -> ChallengePrediction:
    return answers([None] * 8, items={item: ItemAnswer(score=None, quotes=quotes)})


@pytest.mark.parametrize(
    ("scores", "charge"),
    [
        pytest.param(SCORES, 0, id="true"),
        pytest.param([None] * 8, 6 * ABSTAINED, id="nothing"),
        pytest.param([0] * 8, 2 * INVENTED + 9, id="zeros"),
        pytest.param([None, 1, 0, None, 2, 3, 0, 3], 1 + 3 + ABSTAINED + INVENTED, id="mixed"),
    ],
)
def test_charges_are_errors_silences_and_inventions(
    scores: Sequence[int | None], charge: float
) -> None:
    assert tally_of(TRUTH, TEXT, answers(scores))["charge"] == charge


def test_scores_on_the_wrong_side_of_zero_are_opposite() -> None:
    tally = tally_of(TRUTH, TEXT, answers([2, 1, 0, 3, 1, None, 0, None]))
    assert (tally["scored"], tally["opposite"], tally["exact"]) == (5, 2, 1)


@pytest.mark.parametrize(
    ("words", "right", "found"),
    [
        pytest.param(AWAKE, 1, 1, id="whole"),
        pytest.param("lie  AWAKE\nevery", 1, 1, id="other case and white space"),
        pytest.param("i", 1, 0, id="too little of it"),
        pytest.param("i lie awake every day. my mood", 1, 1, id="mostly"),
        pytest.param(TEXT.strip(), 0, 0, id="everything"),
        pytest.param(GOOD, 0, 0, id="of another item"),
        pytest.param("no more", 1, 0, id="what need not be quoted"),
    ],
)
def test_quotes_count_by_what_they_hold(words: str, right: int, found: int) -> None:
    tally = tally_of(TRUTH, TEXT, quoting(Item.SLEEP, GivenQuote(text=words)))
    assert (tally["quotes"], tally["right_quotes"], tally["found_spans"]) == (1, right, found)
    assert (tally["spans"], tally["unsaid_quotes"]) == (2, 0)


def test_words_that_nobody_said_are_wrong_quotes() -> None:
    tally = tally_of(TRUTH, TEXT, quoting(Item.SLEEP, GivenQuote(text="i never sleep")))
    assert (tally["quotes"], tally["right_quotes"], tally["unsaid_quotes"]) == (1, 0, 1)


@pytest.mark.parametrize(
    ("polarity", "read_as"),
    [(Polarity.DENIED, (1, 1)), (Polarity.AFFIRMED, (1, 0)), (Polarity.UNCLEAR, (0, 0))],
)
def test_right_quotes_that_are_read_as_the_opposite_count(
    polarity: Polarity, read_as: tuple[int, int]
) -> None:
    tally = tally_of(TRUTH, TEXT, quoting(Item.SLEEP, GivenQuote(text=AWAKE, polarity=polarity)))
    assert (tally["read_quotes"], tally["misread_quotes"]) == read_as


@pytest.mark.parametrize(
    ("probabilities", "outcomes"),
    [
        ([0.05, 0.5, 0.4, 0.05, 0], {1, 2}),
        ([0, 0, 0, 0, 1], {None}),
        ([0.2] * 5, {0, 1, 2, 3, None}),
    ],
)
def test_sets_of_probabilities_are_the_fewest_that_are_likely_enough(
    probabilities: list[float], outcomes: set[int | None]
) -> None:
    assert likely_outcomes(probabilities) == outcomes


def test_sets_hold_the_truth_or_do_not() -> None:
    known = ItemAnswer.model_validate({"score": None, "set": (None, 0)})
    sure = ItemAnswer(score=2, probabilities=(0, 0, 1, 0, 0))
    items = {Item.NO_INTEREST: known, Item.SLEEP: known, Item.APPETITE: sure}
    tally = tally_of(TRUTH, TEXT, answers([None] * 8, items=items))
    assert (tally["sets"], tally["holding_sets"], tally["set_sizes"]) == (3, 2, 5)
    assert (tally["forecasts"], tally["squared_error"]) == (1, 0)


@pytest.mark.parametrize(
    ("is_dangerous", "alarm", "expected"),
    [(True, True, (1, 0)), (True, None, (0, 0)), (False, True, (0, 1)), (False, None, (0, 0))],
)
def test_danger_is_found_or_falsely_told(
    is_dangerous: bool, alarm: bool | None, expected: tuple[int, int]
) -> None:
    truth = TRUTH.model_copy(update={"is_dangerous": is_dangerous})
    tally = tally_of(truth, TEXT, answers(SCORES, danger=alarm))
    assert (tally["found_danger"], tally["false_alarms"]) == expected


def value(tree: Any, *path: str) -> float:
    found = at(tree, *path).value
    assert found is not None
    return found


def at(tree: Any, *path: str) -> Figure:
    for name in path:
        tree = tree[name]
    assert isinstance(tree, Figure)
    return tree


Known = Mapping[str, ChallengePrediction]


@pytest.fixture(scope="module")
def challenge(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Known]:
    """A made challenge, and what is true of it as predictions."""
    texts, truth = read(tmp_path_factory.mktemp("challenge"))
    return truth, texts, {unit: knowing(one, texts[unit]) for unit, one in truth.items()}


def test_who_knows_the_truth_loses_nothing(challenge: tuple[Any, Any, Known]) -> None:
    truth, texts, known = challenge
    found = figures_of(truth, texts, known, resamples=20)
    for figure in ("charged_error", "opposite", "invented", "unsaid_quotes"):
        assert at(found, "all", figure).value == 0
    for figure in ("coverage", "exact", "evidence_f1", "danger_recall"):
        assert at(found, "all", figure).value == 1
    assert at(found, "all", "danger_false_alarms").value == 0
    assert at(found, "noise", "30%", "loss").value == 0
    assert at(found, "all", "brier").value is None
    assert at(found, "all", "cost_usd").reason == "cost is not given"


def test_interviews_left_out_cost_what_unknown_ones_do(
    challenge: tuple[Any, Any, Known],
) -> None:
    truth, texts, known = challenge
    left_out = sorted(known)[: len(known) // 2]
    silent = {unit: replaced(known[unit], None) for unit in left_out}
    rest = {unit: one for unit, one in known.items() if unit not in left_out}
    assert (
        figures_of(truth, texts, rest, resamples=20)["by_difficulty"]
        == (figures_of(truth, texts, rest | silent, resamples=20)["by_difficulty"])
    )
    assert value(figures_of(truth, texts, rest, resamples=20), "all", "charged_error") > 0


def replaced(prediction: ChallengePrediction, score: int | None) -> ChallengePrediction:
    items = dict.fromkeys(Item, ItemAnswer(score=score))
    return prediction.model_copy(update={"items": items, "danger": None})


def without_sleep(prediction: ChallengePrediction) -> ChallengePrediction:
    items = {**prediction.items, Item.SLEEP: UNKNOWN}
    return prediction.model_copy(update={"items": items})


def test_losses_are_of_the_same_participants(challenge: tuple[Any, Any, Known]) -> None:
    truth, texts, known = challenge
    silent_on_sleep = {unit: without_sleep(one) for unit, one in known.items()}
    spoilt = {
        unit: replaced(one, None) if truth[unit].injected or truth[unit].noise == 0.3 else one
        for unit, one in silent_on_sleep.items()
    }
    found = figures_of(truth, texts, spoilt, resamples=20)
    for name, units in (
        ("injection", [one for one in truth.values() if one.injected]),
        ("noise", [one for one in truth.values() if one.noise == 0.3]),
    ):
        figure = at(found, name, *(["30%"] if name == "noise" else []), "loss")
        told = [
            known.score is not None and item is not Item.SLEEP
            for one in units
            for item, known in one.items.items()
        ]
        assert figure.value == pytest.approx(ABSTAINED * sum(told) / len(told))
        assert figure.n == len(told)
    assert at(found, "noise", "20%", "loss").value == 0
    changed = value(found, "injection", "changed_scores")
    assert changed == pytest.approx(value(found, "injection", "loss") / ABSTAINED)


def test_intervals_are_over_participants(challenge: tuple[Any, Any, Known]) -> None:
    truth, texts, known = challenge
    some = {
        unit: replaced(one, 1) if int(unit, 16) % 3 == 0 else one for unit, one in known.items()
    }
    whole = at(figures_of(truth, texts, some, resamples=200), "all", "charged_error")
    assert whole.interval is not None
    assert whole.value is not None
    assert whole.interval[0] < whole.value < whole.interval[1]
    one_person = {unit: one.model_copy(update={"participant": "p"}) for unit, one in truth.items()}
    lone = at(figures_of(one_person, texts, some, resamples=200), "all", "charged_error")
    assert lone == replace(
        whole, interval=None, reason="no interval: it rests on 1 participant, and needs 10"
    )
