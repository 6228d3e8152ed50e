"""What all figures of a run cost with their intervals, beside a loop over the resamples."""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.domain.phq8 import Item, Severity, UnknownReason
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.compute import compare_metrics, compute_metrics
from ai_psychiatrist.evaluation.metrics.kinds import LabelledUnits, beside_labels
from ai_psychiatrist.evaluation.scores.prediction import ItemPrediction, ItemSignals, UnitPrediction

RESAMPLES: Final = 10_000
LOOPED: Final = 200
"""Resamples of the control, whose time is scaled up to all."""
ROUNDS: Final = 5
TARGET_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Made-up predictions with their labels."""

    predictions: Sequence[UnitPrediction]
    labels: Mapping[str, Labels]


def made_up_run(units: int, *, seed: int) -> Run:
    """Make a run that scores about half of the items and errs now and then."""
    truth, choose = random.Random(units), random.Random(seed)  # noqa: S311 - repeatable
    labels = {
        f"{number:06}": Labels(
            items={item: min(3, int(truth.expovariate(1))) for item in Item},
            total=None,
            binary=None,
        )
        for number in range(units)
    }
    return Run(
        predictions=[_prediction(unit, label, choose) for unit, label in labels.items()],
        labels=labels,
    )


def _prediction(unit: str, labels: Labels, choose: random.Random) -> UnitPrediction:
    return UnitPrediction(
        unit_id=unit,
        status=AssessmentStatus.COMPLETE,
        items={item: _item(labels.items[item] or 0, choose) for item in Item},
        meta_review_severity=choose.choice(list(Severity)),
        risk_level=RiskLevel.NONE,
    )


def _item(right: int, choose: random.Random) -> ItemPrediction:
    is_scored = choose.random() < 0.5
    score = min(3, max(0, right + choose.choice((-1, 0, 0, 1)))) if is_scored else None
    quotes = choose.randint(0, 6)
    return ItemPrediction(
        score=score,
        unknown_reason=None if is_scored else UnknownReason.NO_MENTION,
        proposed_score=score,
        confidence=choose.randint(1, 5),
        signals=ItemSignals(
            llm_evidence_count=quotes,
            llm_evidence_extracted_count=quotes,
            llm_evidence_rejected_count=0,
            affirmed=quotes // 2,
            denied=0,
            unclear=0,
            past=0,
            frequency=Frequency.UNSTATED,
        ),
    )


def seconds(work: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    """Return the median CPU time of some calls."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def loop_over_resamples(run: Run) -> None:
    """Resample three figures one by one: error, coverage, and one area of one signal."""
    scores = beside_labels(run.predictions, run.labels)
    quotes = np.array(
        [[unit.items[item].signals.llm_evidence_count for item in Item] for unit in run.predictions]
    )
    draw = np.random.default_rng(42)
    for _ in range(LOOPED):
        _three_figures(scores, quotes, draw.integers(len(quotes), size=len(quotes)))


def _three_figures(scores: LabelledUnits, quotes: np.ndarray, drawn: np.ndarray) -> None:
    is_both = scores.items.is_both[drawn].ravel()
    losses = scores.items.distance[drawn].ravel()[is_both]
    order = np.argsort(-quotes[drawn].ravel()[is_both], kind="stable")
    losses.mean()
    is_both.mean()
    (np.cumsum(losses[order]) / np.arange(1, len(losses) + 1)).mean()


def count_figures(document: object) -> int:
    """Return how many figures a report holds."""
    if isinstance(document, Mapping):
        inner = sum(map(count_figures, document.values()))
        return 1 if "interval" in document and "value" in document else inner
    return sum(map(count_figures, document)) if isinstance(document, list) else 0


def rows(units: Sequence[int]) -> list[str]:
    """Measure reports and comparisons of runs of some sizes."""
    lines = ["| units | work | figures | CPU s | target |", "| ---: | --- | ---: | ---: | ---: |"]
    for count in units:
        one, other = made_up_run(count, seed=1), made_up_run(count, seed=2)
        rounds = ROUNDS if count < 1000 else 1
        report = compute_metrics(one.predictions, one.labels, resamples=RESAMPLES)
        whole = seconds(partial(_report, one), rounds=rounds)
        paired = seconds(partial(_compare, one, other), rounds=rounds)
        looped = seconds(partial(loop_over_resamples, one), rounds=1) * RESAMPLES / LOOPED
        target = f"{TARGET_SECONDS:.1f}" if count == units[0] else "–"
        figures = count_figures(report.as_json())
        lines += [
            f"| {count} | report, {RESAMPLES:,} resamples | {figures} | {whole:.2f} | {target} |",
            f"| {count} | two runs compared | | {paired:.2f} | – |",
            f"| {count} | control: three figures in a loop, scaled | 3 | {looped:.2f} | – |",
        ]
    return lines


def _report(run: Run) -> None:
    compute_metrics(run.predictions, run.labels, resamples=RESAMPLES)


def _compare(one: Run, other: Run) -> None:
    compare_metrics(one.predictions, other.predictions, one.labels, resamples=RESAMPLES)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="metrics", description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=[41, 189, 2000])
    print("\n".join(rows(parser.parse_args(arguments).units)))


if __name__ == "__main__":
    main()
