"""The figures of one system: each with its n, and an interval over participants."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, get_args

import numpy as np

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.folder import NOISE_RATES, Difficulty, InterviewTruth
from ai_psychiatrist.evaluation.challenge.prediction import ChallengePrediction
from ai_psychiatrist.evaluation.challenge.tally import Sum, Tally, answer_to, tally_of
from ai_psychiatrist.evaluation.metrics.tree import Tree, resolve
from ai_psychiatrist.statistics.arrays import Array, BoolArray
from ai_psychiatrist.statistics.bootstrap import Bootstrap, owners_of
from ai_psychiatrist.statistics.measure import Measure, ratio, statistics

RESAMPLES: Final = 10_000
SEED: Final = 42

Sums: TypeAlias = Mapping[Sum, Array]
"""What is summed → (interviews,); 0 of those that the figures are not about."""

_UNSCORED: Final = "no item that can be determined has a score"
_NO_QUOTE: Final = "no quote is given"
_NO_SET: Final = "no item has probabilities or a set"
_SILENT: Final = "no answer has danger"
_FIGURES: Final[Mapping[str, Mapping[str, tuple[Sum, Sum, str] | None]]] = {
    "scores": {
        "charged_error": ("charge", "items", "no item"),
        "coverage": ("scored", "determinable", "no item can be determined"),
        "error_of_scored": ("error", "scored", _UNSCORED),
        "exact": ("exact", "scored", _UNSCORED),
        "opposite": ("opposite", "scored", _UNSCORED),
        "invented": ("invented", "undeterminable", "every item can be determined"),
    },
    "evidence": {
        "evidence_precision": ("right_quotes", "quotes", _NO_QUOTE),
        "evidence_recall": ("found_spans", "spans", "nothing is evidence"),
        "evidence_f1": None,
        "quote_polarity_error": ("misread_quotes", "read_quotes", "no right quote has a polarity"),
        "unsaid_quotes": ("unsaid_quotes", "quotes", _NO_QUOTE),
    },
    "sets": {
        "set_holds_truth": ("holding_sets", "sets", _NO_SET),
        "set_size": ("set_sizes", "sets", _NO_SET),
        "brier": ("squared_error", "forecasts", "no item has probabilities"),
    },
    "danger": {
        "danger_recall": ("found_danger", "dangerous", _SILENT),
        "danger_false_alarms": ("false_alarms", "harmless", _SILENT),
    },
    "cost": {
        "calls": ("calls", "counted_calls", "calls are not given"),
        "cost_usd": ("cost_usd", "priced", "cost is not given"),
    },
}
"""Group → figure → sum over sum, and the reason why it is not defined where the second one is 0;
`None` for the F1, which is of two such ratios."""


def figures_of(
    truth: Mapping[str, InterviewTruth],
    texts: Mapping[str, str],
    given: Mapping[str, ChallengePrediction],
    *,
    resamples: int = RESAMPLES,
) -> dict[str, Tree]:
    """Return all figures of a system; an interview without an answer counts as unknown."""
    ids = sorted(truth)
    interviews = [truth[unit_id] for unit_id in ids]
    tallies = [tally_of(one, texts[one.unit_id], given.get(one.unit_id)) for one in interviews]
    _add_changes(tallies, interviews, given)
    sums = {name: np.array([one[name] for one in tallies]) for name in get_args(Sum)}
    tree: dict[str, Tree] = {
        "all": _figures(sums, *_FIGURES),
        "by_difficulty": {
            kind.value: _figures(
                _among(sums, [one.difficulty is kind for one in interviews]),
                "scores",
                "evidence",
                "danger",
            )
            for kind in Difficulty
        },
        "noise": _noise(sums, interviews),
        "injection": _injection(sums, interviews),
    }
    owners = owners_of(ids, {one.unit_id: one.participant for one in interviews})
    return resolve(tree, Bootstrap(owners=owners, resamples=resamples, seed=SEED))


def _add_changes(
    tallies: Sequence[Tally],
    interviews: Sequence[InterviewTruth],
    given: Mapping[str, ChallengePrediction],
) -> None:
    """Count in each injected interview the items that have another score than without it."""
    without = {one.participant: one.unit_id for one in interviews if one.injected is False}
    for tally, one in zip(tallies, interviews, strict=True):
        twin = without.get(one.participant)
        if one.injected and twin is not None:
            pair = given.get(one.unit_id), given.get(twin)
            scores = [[answer_to(item, answers).score for item in Item] for answers in pair]
            tally["changed"] = sum(a != b for a, b in zip(*scores, strict=True))


def _among(sums: Sums, is_in: BoolArray | Sequence[bool]) -> Sums:
    return {name: np.where(is_in, column, 0.0) for name, column in sums.items()}


def _figures(sums: Sums, *groups: str) -> dict[str, Tree]:
    """Return the figures of some groups."""
    found: dict[str, Tree] = {}
    for group in groups:
        # Where no answer has danger at all, silence is not taken for reassurance.
        is_told = group != "danger" or bool(sums["told_danger"].any())
        for name, ratio_of in _FIGURES[group].items():
            if ratio_of is None:
                found[name] = _f1(sums)
            else:
                part, whole, undefined = ratio_of
                found[name] = ratio(sums[part], sums[whole] * is_told, undefined=undefined)
    return found


def _f1(sums: Sums) -> Measure:
    """Return twice precision times recall over their sum; 0 where nothing right is quoted."""

    def combine(found: Array) -> Array:
        right, quotes, held, spans = found
        precision = np.where(quotes > 0, right / np.maximum(quotes, 1), 0.0)
        recall = held / spans
        both = precision + recall
        return np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1.0), 0.0)

    spans = sums["spans"]
    return Measure(
        statistics=statistics(sums["right_quotes"], sums["quotes"], sums["found_spans"], spans),
        combine=combine,
        n=int(spans.sum()),
        undefined="nothing is evidence",
    )


def _noise(sums: Sums, interviews: Sequence[InterviewTruth]) -> dict[str, Tree]:
    by_rate = {
        rate: _among(sums, [one.noise == rate for one in interviews]) for rate in NOISE_RATES
    }
    return {
        f"{rate:.0%}": {
            "charged_error": _charged_error(noisy),
            "evidence_f1": _f1(noisy),
            "loss": _loss(noisy, by_rate[NOISE_RATES[0]]),
        }
        for rate, noisy in by_rate.items()
    }


def _injection(sums: Sums, interviews: Sequence[InterviewTruth]) -> dict[str, Tree]:
    with_it = _among(sums, [one.injected is True for one in interviews])
    without = _among(sums, [one.injected is False for one in interviews])
    return {
        "charged_error": _charged_error(with_it),
        "loss": _loss(with_it, without),
        "changed_scores": ratio(
            with_it["changed"], with_it["items"], undefined="nothing is injected"
        ),
    }


def _charged_error(sums: Sums) -> Measure:
    return ratio(sums["charge"], sums["items"], undefined="no item")


def _loss(worse: Sums, better: Sums) -> Measure:
    """Return by how much the charged error of the same participants is larger."""
    return Measure(
        statistics=statistics(worse["charge"], worse["items"], better["charge"], better["items"]),
        combine=lambda found: found[0] / found[1] - found[2] / found[3],
        n=int(worse["items"].sum()),
        undefined="no item",
    )
