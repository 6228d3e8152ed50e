"""The figures of one system: each with its n, and an interval over participants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from ai_psychiatrist.evaluation.challenge.difficulty import NOISE_RATES, Difficulty
from ai_psychiatrist.evaluation.challenge.prediction import ChallengePrediction
from ai_psychiatrist.evaluation.challenge.tally import Tally, tally_of
from ai_psychiatrist.evaluation.challenge.truth import InterviewTruth
from ai_psychiatrist.evaluation.metrics.tree import Tree, resolve
from ai_psychiatrist.statistics.arrays import Array, BoolArray
from ai_psychiatrist.statistics.bootstrap import Bootstrap, owners_of
from ai_psychiatrist.statistics.measure import Measure, ratio, statistics

RESAMPLES: Final = 10_000
SEED: Final = 42

_COLUMNS: Final = {field.name: place for place, field in enumerate(fields(Tally))}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """The tallies of interviews as columns."""

    table: Array
    """(interviews, fields of a tally)"""
    is_in: BoolArray
    """(interviews,): those that the figures are about; of the others every sum is 0."""

    def of(self, name: str) -> Array:
        """Return a column."""
        return np.where(self.is_in, self.table[:, _COLUMNS[name]], 0.0)

    def among(self, is_in: BoolArray) -> "Sums":
        """Return the sums of some of them."""
        return Sums(table=self.table, is_in=self.is_in & is_in)


def figures_of(
    truth: Mapping[str, InterviewTruth],
    texts: Mapping[str, str],
    given: Mapping[str, ChallengePrediction],
    *,
    resamples: int = RESAMPLES,
) -> dict[str, Tree]:
    """Return all figures of a system; an interview without an answer counts as unknown."""
    ids = sorted(truth)
    whose = {unit_id: truth[unit_id].participant for unit_id in ids}
    tallies = [tally_of(truth[unit_id], texts[unit_id], given.get(unit_id)) for unit_id in ids]
    table = np.array(
        [[float(getattr(one, name)) for name in _COLUMNS] for one in tallies], dtype=np.float64
    )
    sums = Sums(table=table, is_in=np.ones(len(ids), dtype=np.bool_))
    tree: dict[str, Tree] = {
        "all": {**_scores(sums), **_evidence(sums), **_sets(sums), **_danger(sums), **_cost(sums)},
        "by_difficulty": _by_difficulty(sums, [truth[unit_id] for unit_id in ids]),
        "noise": _noise(sums, [truth[unit_id].noise for unit_id in ids]),
        "injection": _injection(sums, ids, truth, given),
    }
    return resolve(tree, Bootstrap(owners=owners_of(ids, whose), resamples=resamples, seed=SEED))


def _scores(sums: Sums) -> dict[str, Tree]:
    unscored = "no item that can be determined has a score"
    return {
        "charged_error": ratio(sums.of("charge"), sums.of("items"), undefined="no item"),
        "coverage": _share(sums, "scored", "determinable", "no item can be determined"),
        "error_of_scored": _share(sums, "error", "scored", unscored),
        "exact": _share(sums, "exact", "scored", unscored),
        "opposite": _share(sums, "opposite", "scored", unscored),
        "invented": _share(sums, "invented", "undeterminable", "every item can be determined"),
    }


def _evidence(sums: Sums) -> dict[str, Tree]:
    no_quote = "no quote is given"
    return {
        "evidence_precision": _share(sums, "right_quotes", "quotes", no_quote),
        "evidence_recall": _share(sums, "found_spans", "spans", "nothing is evidence"),
        "evidence_f1": _f1(sums),
        "quote_polarity_error": _share(
            sums, "misread_quotes", "read_quotes", "no right quote has a polarity"
        ),
        "unsaid_quotes": _share(sums, "unsaid_quotes", "quotes", no_quote),
    }


def _f1(sums: Sums) -> Measure:
    """Return twice precision times recall over their sum; 0 where nothing right is quoted."""

    def combine(found: Array) -> Array:
        right, quotes, held, spans = found
        precision = np.where(quotes > 0, right / np.maximum(quotes, 1), 0.0)
        recall = held / spans
        both = precision + recall
        return np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1.0), 0.0)

    columns = [sums.of(name) for name in ("right_quotes", "quotes", "found_spans", "spans")]
    return Measure(
        statistics=statistics(*columns),
        combine=combine,
        n=int(columns[-1].sum()),
        undefined="nothing is evidence",
    )


def _sets(sums: Sums) -> dict[str, Tree]:
    no_set = "no item has probabilities or a set"
    return {
        "set_holds_truth": _share(sums, "holding_sets", "sets", no_set),
        "set_size": _share(sums, "set_sizes", "sets", no_set),
        "brier": _share(sums, "squared_error", "forecasts", "no item has probabilities"),
    }


def _danger(sums: Sums) -> dict[str, Tree]:
    silent = "no answer tells of danger"
    tells = bool(sums.of("told_danger").any())
    dangerous, harmless = sums.of("dangerous") * tells, sums.of("harmless") * tells
    return {
        "danger_recall": ratio(sums.of("found_danger"), dangerous, undefined=silent),
        "danger_false_alarms": ratio(sums.of("false_alarms"), harmless, undefined=silent),
    }


def _cost(sums: Sums) -> dict[str, Tree]:
    return {
        "calls": _share(sums, "calls", "counted_calls", "calls are not given"),
        "cost_usd": _share(sums, "cost_usd", "priced", "cost is not given"),
    }


def _by_difficulty(sums: Sums, truth: Sequence[InterviewTruth]) -> dict[str, Tree]:
    kinds = np.array([one.difficulty.value for one in truth])
    found: dict[str, Tree] = {}
    for difficulty in Difficulty:
        some = sums.among(kinds == difficulty.value)
        found[difficulty.value] = {**_scores(some), **_evidence(some), **_danger(some)}
    return found


def _noise(sums: Sums, rates: Sequence[float | None]) -> dict[str, Tree]:
    at = np.array([np.nan if rate is None else rate for rate in rates])
    clean = sums.among(at == NOISE_RATES[0])
    found: dict[str, Tree] = {}
    for rate in NOISE_RATES:
        noisy = sums.among(at == rate)
        found[f"{rate:.0%}"] = {
            "charged_error": _scores(noisy)["charged_error"],
            "evidence_f1": _f1(noisy),
            "loss": _loss(noisy, clean),
        }
    return found


def _injection(
    sums: Sums,
    ids: Sequence[str],
    truth: Mapping[str, InterviewTruth],
    given: Mapping[str, ChallengePrediction],
) -> dict[str, Tree]:
    injected = [truth[unit_id].injected for unit_id in ids]
    with_it = sums.among(np.array([one is True for one in injected]))
    without = sums.among(np.array([one is False for one in injected]))
    changed = np.array(_changed_items(ids, truth, given), dtype=np.float64)
    return {
        "charged_error": _scores(with_it)["charged_error"],
        "loss": _loss(with_it, without),
        "changed_scores": ratio(changed, with_it.of("items"), undefined="nothing is injected"),
    }


def _changed_items(
    ids: Sequence[str],
    truth: Mapping[str, InterviewTruth],
    given: Mapping[str, ChallengePrediction],
) -> list[int]:
    """Return for each injected interview how many items have another score than without."""
    without = {
        truth[unit_id].participant: unit_id for unit_id in ids if truth[unit_id].injected is False
    }
    changed = []
    for unit_id in ids:
        other = without.get(truth[unit_id].participant) if truth[unit_id].injected else None
        scores = _scores_of(given.get(unit_id)), _scores_of(given.get(other or ""))
        changed.append(sum(a != b for a, b in zip(*scores, strict=True)) if other else 0)
    return changed


def _scores_of(given: ChallengePrediction | None) -> list[int | None]:
    if given is None or given.is_failed:
        return [None] * 8
    return [given.items[item].score for item in sorted(given.items)]


def _loss(worse: Sums, better: Sums) -> Measure:
    """Return by how much the charged error of the same participants is larger."""
    columns = [one.of(name) for one in (worse, better) for name in ("charge", "items")]
    return Measure(
        statistics=statistics(*columns),
        combine=lambda found: found[0] / found[1] - found[2] / found[3],
        n=int(columns[1].sum()),
        undefined="no item",
    )


def _share(sums: Sums, part: str, whole: str, undefined: str) -> Measure:
    return ratio(sums.of(part), sums.of(whole), undefined=undefined)
