"""How often symptoms are found, and scores follow from the evidence: no label is needed."""

from dataclasses import dataclass
from typing import Final

from numpy.typing import ArrayLike

from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.evaluation.metrics.agreement import ITEMS
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.scale import Better, Scale
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.predicted_units import UnitRows
from ai_psychiatrist.statistics.arrays import BoolArray
from ai_psychiatrist.statistics.measure import Measure, ratio

NO_SCORES: Final = "scoring finished for no unit"
NO_VERDICTS: Final = (
    "no score has a verdict: the run was made without --ablate, or its calls failed"
)
_VERDICTS: Final = tuple(DriveVerdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitEvidence:
    """What was found in units, (units, places)."""

    has_scores: BoolArray
    """(units,)"""
    is_found: BoolArray
    """Which items are scored 1 or more."""
    is_backed: BoolArray
    """Which items have accepted evidence."""

    def mean(self, marks: ArrayLike) -> Measure:
        """Return the mean over units whose scoring finished."""
        return ratio(marks, self.has_scores, undefined=NO_SCORES)


class EvidenceFound(UnitEvidence):
    """Of all items."""


class ItemEvidence(UnitEvidence):
    """Of one item."""


def evidence_section(rows: UnitRows) -> dict[str, Tree]:
    """Return how many units show a symptom, and how many items have accepted evidence.

    Where the conversations do not concern depression, these are rates of false evidence. Units
    whose scoring failed take no part.
    """
    has_scores, found, backed = rows["has_items"], rows["scores"] > 0, rows["quotes"] > 0
    by_item = {
        item: ItemEvidence(
            has_scores=has_scores, is_found=found[:, [place]], is_backed=backed[:, [place]]
        )
        for place, item in enumerate(ITEMS)
    }
    return {
        "by_item": {item: {"label": item.label, **measured(one)} for item, one in by_item.items()},
        **measured(EvidenceFound(has_scores=has_scores, is_found=found, is_backed=backed)),
    }


@metric(
    on={EvidenceFound: Row(1, "Conversations with a symptom", "any item scored 1 or more")},
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def units_with_a_symptom(found: EvidenceFound) -> Measure:
    """Share of units with at least one item scored 1 or more."""
    return found.mean(found.is_found.any(axis=1))


@metric(
    on={EvidenceFound: Row(2, "Symptoms per conversation", "items scored 1 or more, of eight")},
    better=Better.NEITHER,
    scale=Scale.ITEMS,
)
def symptoms_per_unit(found: EvidenceFound) -> Measure:
    """Mean number of items scored 1 or more."""
    return found.mean(found.is_found.sum(axis=1))


@metric(
    on={
        EvidenceFound: Row(
            3,
            "Items with accepted evidence per conversation",
            "any quote found in the transcript, of eight",
        )
    },
    better=Better.NEITHER,
    scale=Scale.ITEMS,
)
def items_with_evidence_per_unit(found: EvidenceFound) -> Measure:
    """Mean number of items with accepted evidence."""
    return found.mean(found.is_backed.sum(axis=1))


@metric(on={ItemEvidence: Row(1, "Scored 1 or more")}, better=Better.NEITHER, scale=Scale.SHARE)
def units_with_the_symptom(found: ItemEvidence) -> Measure:
    """Share of units with the item scored 1 or more."""
    return found.mean(found.is_found.any(axis=1))


@metric(on={ItemEvidence: None}, better=Better.NEITHER, scale=Scale.SHARE)
def units_with_evidence(found: ItemEvidence) -> Measure:
    """Share of units with accepted evidence of the item."""
    return found.mean(found.is_backed.any(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenItems:
    """The verdicts on the scores of units."""

    marks: dict[DriveVerdict, BoolArray]
    """(units, places) for each verdict."""

    @property
    def counts(self) -> dict[str, Tree]:
        """How many scores have each verdict."""
        return {verdict.value: int(marks.sum()) for verdict, marks in self.marks.items()}

    def share_of_verdicts(self, verdict: DriveVerdict) -> Measure:
        """Return the share of a verdict among the items that have one."""
        has_one = sum(
            marks.sum(axis=1)
            for other, marks in self.marks.items()
            if other is not DriveVerdict.UNDETERMINED
        )
        return ratio(self.marks[verdict].sum(axis=1), has_one, undefined=NO_VERDICTS)


class AllDrivenItems(DrivenItems):
    """Of all items."""


def drive_section(rows: UnitRows) -> dict[str, Tree]:
    """Return the shares of verdicts over all items and by item, and how many there are of each."""
    verdicts = rows["drive"]
    marks = {verdict: verdicts == place for place, verdict in enumerate(_VERDICTS)}
    every = AllDrivenItems(marks=marks)
    by_item = {
        item: DrivenItems(marks={verdict: some[:, [place]] for verdict, some in marks.items()})
        for place, item in enumerate(ITEMS)
    }
    return {
        "counts": every.counts,
        "by_item": {
            item: {"label": item.label, "counts": one.counts, **measured(one)}
            for item, one in by_item.items()
        },
        **measured(every),
    }


@metric(
    on={
        DrivenItems: None,
        AllDrivenItems: Row(
            1, "Scores that the evidence does not drive", "of those with a verdict"
        ),
    },
    better=Better.LOWER,
    scale=Scale.SHARE,
)
def not_evidence_driven(items: DrivenItems) -> Measure:
    """Share of scored items with a verdict whose score the cited evidence does not drive."""
    return items.share_of_verdicts(DriveVerdict.NOT_EVIDENCE_DRIVEN)


@metric(
    on={
        DrivenItems: None,
        AllDrivenItems: Row(2, "Scores that other words carry as well", "over-determined"),
    },
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def over_determined(items: DrivenItems) -> Measure:
    """Share of scored items with a verdict that stand on the cited words and on others alike."""
    return items.share_of_verdicts(DriveVerdict.OVER_DETERMINED)


@metric(
    on={
        DrivenItems: None,
        AllDrivenItems: Row(3, "Scores without a verdict", "a call failed or no change was made"),
    },
    better=Better.LOWER,
    scale=Scale.SHARE,
)
def undetermined_drive(items: DrivenItems) -> Measure:
    """Share of the items that were scored again of which no verdict could be told."""
    undetermined = items.marks[DriveVerdict.UNDETERMINED].sum(axis=1)
    asked = sum(marks.sum(axis=1) for marks in items.marks.values())
    return ratio(undetermined, asked, undefined=NO_VERDICTS)
