"""Builders of predictions and labels, and a way to read a report by path."""

import random
from collections.abc import Mapping, Sequence

import numpy as np
from pydantic_core import to_jsonable_python

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.domain.phq8 import Item, Severity, UnknownReason
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.compute import RunComparison, compute_metrics
from ai_psychiatrist.evaluation.metrics.run_metrics import RunMetrics
from ai_psychiatrist.evaluation.metrics.tree import Tree, resolve
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    FailureSummary,
    ItemPrediction,
    ItemSignals,
    UnitPrediction,
)
from ai_psychiatrist.statistics.bootstrap import Bootstrap


def item(score: int | None, *, quotes: int = 1, confidence: int | None = 3) -> ItemPrediction:
    """One item; without a score it is one that nobody mentioned."""
    return ItemPrediction(
        score=score,
        unknown_reason=UnknownReason.NO_MENTION if score is None else None,
        proposed_score=score,
        confidence=confidence,
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


def unit(
    unit_id: str,
    scores: Sequence[int | None],
    *,
    quotes: Sequence[int] = (1,) * 8,
    confidences: Sequence[int | None] = (3,) * 8,
    review: Severity | None = None,
    attempts: tuple[AttemptSummary, ...] = (),
    failures: tuple[FailureSummary, ...] = (),
) -> UnitPrediction:
    """One unit whose scoring finished; scores in the order of the instrument."""
    given = zip(Item, scores, quotes, confidences, strict=True)
    return UnitPrediction(
        unit_id=unit_id,
        status=AssessmentStatus.PARTIAL if failures else AssessmentStatus.COMPLETE,
        items={key: item(score, quotes=n, confidence=said) for key, score, n, said in given},
        meta_review_severity=review,
        risk_level=RiskLevel.NONE,
        attempts=attempts,
        failures=failures,
    )


def labels(
    items: Sequence[int | None] | None = None,
    *,
    total: int | None = None,
    binary: bool | None = None,
) -> Labels:
    """Labels of one unit, with item scores or without."""
    scores = {} if items is None else dict(zip(Item, items, strict=True))
    return Labels(items=scores, total=total, binary=binary)


def random_run(
    units: int, *, seed: int, unknown: float = 0.4
) -> tuple[list[UnitPrediction], dict[str, Labels]]:
    """A run that errs at random, about labels that depend on the number of units only."""
    truth = random.Random(units)  # noqa: S311 - repeatable
    choose = random.Random(seed)  # noqa: S311 - repeatable
    predictions, known = [], {}
    for number in range(units):
        right = [truth.randint(0, 3) for _ in Item]
        blank = truth.randrange(40)
        given = [None if place == blank else score for place, score in enumerate(right)]
        known[f"unit {number:03}"] = labels(given, total=sum(right))
        share = choose.choice((0.0, unknown, unknown))
        scores = [
            None
            if choose.random() < share
            else min(3, max(0, score + choose.choice((-1, 0, 0, 1))))
            for score in right
        ]
        predictions.append(
            unit(
                f"unit {number:03}",
                scores,
                quotes=[choose.randint(0, 4) for _ in Item],
                confidences=[choose.choice((None, 1, 2, 3, 4, 5)) for _ in Item],
                review=choose.choice((None, *Severity)),
            )
        )
    return predictions, known


def at(found: object, path: str) -> object:
    """Follow keys that are joined by slashes, as in the file."""
    document = to_jsonable_python(found)
    if isinstance(found, RunMetrics | RunComparison):
        document = found.as_json()
    for key in path.split("/"):
        assert isinstance(document, Mapping), path
        document = document[key]
    return document


def value(report: object, path: str) -> float | None:
    """The value of the figure at a path."""
    found = at(report, f"{path}/value")
    assert found is None or isinstance(found, int | float)
    return found


def number(report: object, path: str) -> float:
    """The value of the figure at a path, which must be defined."""
    found = value(report, path)
    assert found is not None, path
    return found


def plain(tree: Mapping[str, Tree], *, units: int) -> dict[str, object]:
    """The figures of a section, without intervals."""
    return dict(resolve(tree, each(units, resamples=0)))


def each(units: int, *, resamples: int, seed: int = 0) -> Bootstrap:
    """Resampling of units of as many participants."""
    return Bootstrap(owners=np.arange(units), resamples=resamples, seed=seed)


def metrics(
    predictions: Sequence[UnitPrediction], known: Mapping[str, Labels], *, resamples: int = 50
) -> RunMetrics:
    """All figures, with few resamples."""
    return compute_metrics(predictions, known, resamples=resamples)
