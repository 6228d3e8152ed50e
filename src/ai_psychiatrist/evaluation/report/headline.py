"""The figures that compare a run with its labels."""

from ai_psychiatrist.evaluation.report.definitions import signal_name
from ai_psychiatrist.evaluation.report.figures import Metrics, Scale
from ai_psychiatrist.evaluation.report.rows import Group, Line, group

_ITEMS = (
    Line(
        path="items.mae_charged",
        name="Mean error, unknown items charged",
        scale=Scale.ITEM_POINTS,
        note="every unknown item counts as 3 points off",
    ),
    Line(path="items.mae", name="Mean error of the scored items", scale=Scale.ITEM_POINTS),
    Line(
        path="items.mae_by_participant",
        name="Mean error by participant",
        scale=Scale.ITEM_POINTS,
        note="scored items; each participant weighs the same",
    ),
    Line(
        path="items.mae_mean_of_items",
        name="Mean error by item",
        scale=Scale.ITEM_POINTS,
        note="scored items; each of the eight weighs the same",
    ),
    Line(path="items.coverage", name="Labelled items that were scored", scale=Scale.SHARE),
    Line(
        path="items.exact_agreement",
        name="Exactly right",
        scale=Scale.SHARE,
        note="of the scored items",
    ),
    Line(
        path="items.quadratic_kappa",
        name="Quadratic kappa",
        scale=Scale.AGREEMENT,
        note="of the scored items; 0 is chance",
    ),
)
_TOTALS = (
    Line(
        path="totals.exact.coverage",
        name="Totals without an unknown item",
        scale=Scale.SHARE,
        note="the next three rest on these alone",
    ),
    Line(path="totals.exact.mae", name="Mean error", scale=Scale.TOTAL_POINTS),
    Line(path="totals.exact.rmse", name="Root mean squared error", scale=Scale.TOTAL_POINTS),
    Line(path="totals.exact.pearson", name="Correlation", scale=Scale.AGREEMENT),
    Line(
        path="totals.range.holds_truth",
        name="Range holds the true total",
        scale=Scale.SHARE,
        note="all participants; wide ranges do so easily",
    ),
    Line(path="totals.range.mean_width", name="Mean width of the range", scale=Scale.TOTAL_POINTS),
    Line(
        path="totals.range.midpoint_mae",
        name="Mean error of the range's midpoint",
        scale=Scale.TOTAL_POINTS,
    ),
)
_SEVERITY = (
    Line(
        path="severity.exact_undecidable_as_wrong",
        name="Band right, of all",
        scale=Scale.SHARE,
        note="an undecidable band counts as wrong",
    ),
    Line(path="severity.coverage", name="Band decided", scale=Scale.SHARE),
    Line(path="severity.exact", name="Band right, of the decided", scale=Scale.SHARE),
    Line(path="severity.adjacent", name="Right or one band off, of the decided", scale=Scale.SHARE),
    Line(path="severity.quadratic_kappa", name="Quadratic kappa", scale=Scale.AGREEMENT),
)
_RATES = (
    ("balanced_accuracy", "Balanced accuracy"),
    ("accuracy", "Accuracy"),
    ("sensitivity", "Sensitivity"),
    ("specificity", "Specificity"),
    ("f1", "F1"),
)


def headline_of(metrics: Metrics) -> tuple[Group, ...]:
    """Return the groups of the table of figures, none when nothing has a label."""
    if metrics.count("units.labelled") == 0:
        return ()
    signal = metrics.word("selective.default")
    return (
        group(metrics, "Items, 0 to 3 points each", _ITEMS),
        group(metrics, "Totals, 0 to 24 points", _TOTALS),
        group(metrics, "Severity in five bands", _SEVERITY),
        group(metrics, "Total of 10 or more, from the items", _screening("binary.from_total")),
        group(metrics, "The same, from the meta-review", _screening("binary.from_meta_review")),
        group(metrics, f"Confidence by {signal_name(signal)}", _confidence(signal)),
    )


def _screening(path: str) -> tuple[Line, ...]:
    decided = Line(path=f"{path}.coverage", name="Decided", scale=Scale.SHARE)
    counted = tuple(
        Line(
            path=f"{path}.undecided_as_wrong.{key}",
            name=name,
            scale=Scale.SHARE,
            note="of all; undecided counts as wrong" if place == 0 else "",
        )
        for place, (key, name) in enumerate(_RATES)
    )
    among = Line(
        path=f"{path}.decided.balanced_accuracy",
        name="Balanced accuracy of the decided",
        scale=Scale.SHARE,
    )
    midpoint = Line(
        path=f"{path}.auroc_of_midpoint",
        name="AUROC of the range's midpoint",
        scale=Scale.UNIT,
        note="0.5 is chance",
    )
    return (decided, *counted, among, *([midpoint] if path.endswith("from_total") else []))


def _confidence(signal: str) -> tuple[Line, ...]:
    area, calibration = f"selective.by_signal.{signal}", f"calibration.by_signal.{signal}"
    return (
        Line(
            path=f"{area}.charged_aurc",
            name="AURC over full coverage",
            scale=Scale.ITEM_POINTS,
            note="unknown items first, 3 points each; less is better",
        ),
        Line(
            path=f"{area}.charged_augrc",
            name="AUGRC over full coverage",
            scale=Scale.ITEM_POINTS,
            note="as above, without weighting the surest items more",
        ),
        Line(path=f"{area}.aurc", name="AURC of the scored items", scale=Scale.ITEM_POINTS),
        Line(
            path=f"{calibration}.brier",
            name="Brier score",
            scale=Scale.UNIT,
            note="out of sample; less is better",
        ),
        Line(
            path=f"{calibration}.brier_of_base_rate",
            name="Brier score of the base rate",
            scale=Scale.UNIT,
            note="what one gets without the signal",
        ),
        Line(
            path=f"{calibration}.ece",
            name="Calibration error",
            scale=Scale.UNIT,
            note="out of sample; 0 is perfect",
        ),
        Line(
            path=f"{calibration}.auroc_of_right",
            name="Tells right from wrong (AUROC)",
            scale=Scale.UNIT,
            note="0.5 is chance",
        ),
    )
