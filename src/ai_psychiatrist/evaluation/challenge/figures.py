"""The figures of one system: each with its n, and an interval over participants."""

from collections.abc import Iterable, Mapping, Sequence
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
_SILENT: Final = "no answer tells of danger"
_F1: Final = "evidence_f1"
_RATIOS: Final[Mapping[str, tuple[Sum, Sum, str]]] = {
    "charged_error": ("charge", "items", "no item"),
    "coverage": ("scored", "determinable", "no item can be determined"),
    "error_of_scored": ("error", "scored", _UNSCORED),
    "exact": ("exact", "scored", _UNSCORED),
    "opposite": ("opposite", "scored", _UNSCORED),
    "invented": ("invented", "undeterminable", "every item can be determined"),
    "evidence_precision": ("right_quotes", "quotes", _NO_QUOTE),
    "evidence_recall": ("found_spans", "spans", "nothing is evidence"),
    "quote_polarity_error": (
        "misread_quotes",
        "read_quotes",
        "no right quote has a polarity",
    ),
    "unsaid_quotes": ("unsaid_quotes", "quotes", _NO_QUOTE),
    "set_holds_truth": ("holding_sets", "sets", _NO_SET),
    "set_size": ("set_sizes", "sets", _NO_SET),
    "brier": ("squared_error", "forecasts", "no item has probabilities"),
    "danger_recall": ("found_danger", "dangerous", _SILENT),
    "danger_false_alarms": ("false_alarms", "harmless", _SILENT),
    "calls": ("calls", "counted_calls", "calls are not given"),
    "cost_usd": ("cost_usd", "priced", "cost is not given"),
}
"""Figure → sum over sum, and the reason why it is not defined where the second one is 0."""
_OF_SCORES: Final = (
    "charged_error",
    "coverage",
    "error_of_scored",
    "exact",
    "opposite",
    "invented",
)
_OF_EVIDENCE: Final = (
    "evidence_precision",
    "evidence_recall",
    _F1,
    "quote_polarity_error",
    "unsaid_quotes",
)
_OF_SETS: Final = ("set_holds_truth", "set_size", "brier")
_OF_DANGER: Final = ("danger_recall", "danger_false_alarms")
_OF_COST: Final = ("calls", "cost_usd")
_OF_ALL: Final = (*_OF_SCORES, *_OF_EVIDENCE, *_OF_SETS, *_OF_DANGER, *_OF_COST)


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
        "all": _figures(sums, _OF_ALL),
        "by_difficulty": {
            kind.value: _figures(
                _among(sums, [one.difficulty is kind for one in interviews]),
                (*_OF_SCORES, *_OF_EVIDENCE, *_OF_DANGER),
            )
            for kind in Difficulty
        },
        "noise": {
            f"{rate:.0%}": {
                **_figures(_at_rate(sums, interviews, rate), ("charged_error", _F1)),
                "loss": _loss(
                    _at_rate(sums, interviews, rate),
                    _at_rate(sums, interviews, NOISE_RATES[0]),
                ),
            }
            for rate in NOISE_RATES
        },
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


def _at_rate(sums: Sums, interviews: Sequence[InterviewTruth], rate: float) -> Sums:
    return _among(sums, [one.noise == rate for one in interviews])


def _figures(sums: Sums, names: Iterable[str]) -> dict[str, Tree]:
    return {name: _f1(sums) if name == _F1 else _ratio(sums, name) for name in names}


def _ratio(sums: Sums, name: str) -> Measure:
    part, whole, undefined = _RATIOS[name]
    # Where no answer tells of danger at all, silence is not taken for reassurance.
    is_silent = name in _OF_DANGER and not sums["told_danger"].any()
    return ratio(sums[part], sums[whole] * (not is_silent), undefined=undefined)


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


def _injection(sums: Sums, interviews: Sequence[InterviewTruth]) -> dict[str, Tree]:
    with_it = _among(sums, [one.injected is True for one in interviews])
    without = _among(sums, [one.injected is False for one in interviews])
    changed = ratio(with_it["changed"], with_it["items"], undefined="nothing is injected")
    return {
        **_figures(with_it, ("charged_error",)),
        "loss": _loss(with_it, without),
        "changed_scores": changed,
    }


def _loss(worse: Sums, better: Sums) -> Measure:
    """Return by how much the charged error of the same participants is larger."""
    return Measure(
        statistics=statistics(worse["charge"], worse["items"], better["charge"], better["items"]),
        combine=lambda found: found[0] / found[1] - found[2] / found[3],
        n=int(worse["items"].sum()),
        undefined="no item",
    )
