"""The figures of a run: what `metrics.json` holds, and what report and terminal show."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.statistics.figure import Figure

SCHEMA_VERSION: Final = 1
_STRICT: Final = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class MetricsModel(BaseModel):
    """Anything in the file."""

    model_config = _STRICT


class Figures(MetricsModel):
    """The metrics of one kind of data, by their keys in the registry, beside what is declared."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Figure | dict[str, Figure]] = Field(init=False)

    def __getitem__(self, key: str) -> Figure:
        """Return the figure of a metric. Raises `KeyError` when it is not measured here."""
        found = self.__pydantic_extra__[key]
        if not isinstance(found, Figure):
            raise KeyError(key)
        return found


class Counts(MetricsModel):
    """Whole numbers by name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int] = Field(init=False)

    def __getitem__(self, name: str) -> int:
        """Return a count, 0 where nothing is counted under the name."""
        return self.__pydantic_extra__.get(name, 0)

    @property
    def total(self) -> int:
        """The sum of all."""
        return sum(self.__pydantic_extra__.values())


class MetricsSettings(MetricsModel):
    """How the figures were computed."""

    resamples: int
    seed: int
    interval: float
    confidence: str
    """The signal of confidence that stands for the run."""


class UnitCounts(MetricsModel):
    """How many units, and participants, there are of each sort."""

    predicted: int
    labelled: int
    both: int
    labelled_without_prediction: int
    predicted_without_label: int
    by_status: Counts
    with_turns_not_examined: int
    participants: int
    participants_labelled: int


class ItemFigures(Figures):
    """Of one item."""

    label: str


class ScoredItemFigures(ItemFigures):
    """Of one item beside its labels."""

    counts: Counts


class ScoredItemsFigures(Figures):
    """Errors, agreement and coverage over all items and by item."""

    counts: Counts
    by_item: Mapping[Item, ScoredItemFigures]


class FiguresByItem(Figures):
    """Over all items and by item."""

    by_item: Mapping[Item, ItemFigures]


class DrivenItemFigures(ItemFigures):
    """Of one item that was scored again with its evidence changed."""

    counts: Counts
    """By verdict."""


class DriveFigures(Figures):
    """How many scores the cited evidence drives, over all items and by item."""

    counts: Counts
    by_item: Mapping[Item, DrivenItemFigures]


class Curve(MetricsModel):
    """The mean error of the items kept (0-3) at shares of the labelled items (0-1), rising."""

    coverage: list[float]
    risk: list[float]


class RankedFigures(Figures):
    """By one signal of confidence."""

    curve: Curve
    """Of the scored items alone."""
    charged_curve: Curve
    """Of all labelled items, unknown ones first."""


class SelectiveFigures(MetricsModel):
    """What the errors are when only the surest items are accepted."""

    default: str
    largest_coverage: Figure
    by_signal: Mapping[str, RankedFigures]


class TotalFigures(MetricsModel):
    """Of totals."""

    exact: Figures
    range: Figures


class Confusion(MetricsModel):
    """Units by true band (rows) and predicted one (columns, undecidable last)."""

    rows: list[str]
    columns: list[str]
    counts: list[list[int]]


class SeverityFigures(Figures):
    """Of bands."""

    confusion: Confusion


class ClassifierFigures(Figures):
    """Of one way to tell who is depressed."""

    decided: Figures
    undecided_as_wrong: Figures
    counts: Counts


class BinaryFigures(MetricsModel):
    """Of both ways."""

    cutoff: int
    from_total: ClassifierFigures
    from_meta_review: ClassifierFigures


class ReliabilityBin(MetricsModel):
    """Items whose probabilities lie between two bounds."""

    low: float
    high: float
    n: int
    mean_probability: float
    share_right: float


class ForecastFigures(Figures):
    """By one signal of confidence."""

    reliability: list[ReliabilityBin]


class CalibrationFigures(MetricsModel):
    """How far signals of confidence are probabilities."""

    folds: int
    bins: int
    bin_policy: str
    by_signal: Mapping[str, ForecastFigures]


class ItemReasons(Counts):
    """Of one item: how many are scored, and why the others are not."""

    label: str


class CoverageByReason(MetricsModel):
    """How many items are scored, and why the others are not."""

    all: Counts
    by_item: Mapping[Item, ItemReasons]


class FailureRate(MetricsModel):
    """One category, stage and code."""

    category: str
    stage: str
    code: str | None
    events: int
    units: int
    rate: Figure
    is_frequent: bool


class FailureFigures(Figures):
    """What failed, the most frequent first."""

    frequent_above: float
    kinds: list[FailureRate]


class Calls(MetricsModel):
    """Model calls and how they ended."""

    calls: int
    accepted: int
    rejected: int
    failed: int
    plain_path: int
    repaired: int
    coercions: int
    input_tokens: Figure
    output_tokens: Figure


class CallsOf(Calls):
    """Those of one agent to one model."""

    agent: str
    model: str


class CostFigures(MetricsModel):
    """Calls and tokens."""

    calls_per_unit: Figure
    all: Calls
    by_agent_and_model: list[CallsOf]
    by_code: Counts


class RunMetrics(MetricsModel):
    """All figures of a run; `ai-psychiatrist evaluate metrics --list` says what each means."""

    schema_version: int = SCHEMA_VERSION
    settings: MetricsSettings
    units: UnitCounts
    items: ScoredItemsFigures
    selective: SelectiveFigures
    totals: TotalFigures
    severity: SeverityFigures
    binary: BinaryFigures
    calibration: CalibrationFigures
    noise_ceiling: FiguresByItem
    evidence: FiguresByItem
    drive: DriveFigures
    coverage_by_reason: CoverageByReason
    rule_warnings: Mapping[str, int]
    failures: FailureFigures
    cost: CostFigures

    def to_bytes(self) -> bytes:
        """Return it as strict JSON; the same run gives the same bytes."""
        return self.model_dump_json(indent=2).encode() + b"\n"
