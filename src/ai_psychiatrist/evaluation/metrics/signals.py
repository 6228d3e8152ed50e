"""Signals of confidence: what a run says about how far an item's score can be trusted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.evaluation.metrics.items import ITEMS
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.scores.prediction import ItemPrediction, UnitPrediction
from ai_psychiatrist.statistics.measure import Array

DEFAULT_SIGNAL: Final = "llm_evidence_count"
MISSING: Final = -1.0
"""The rank of an item without the signal: below all that have it."""
_ENOUGH_QUOTES: Final = 3
_NOTHING: Final = (MISSING,) * len(ITEMS)


def _verbalised(item: ItemPrediction) -> float | None:
    return None if item.confidence is None else (item.confidence - 1) / 4


def _hybrid(item: ItemPrediction) -> float | None:
    said = _verbalised(item)
    quotes = min(item.signals.llm_evidence_count, _ENOUGH_QUOTES) / _ENOUGH_QUOTES
    return None if said is None else (said + quotes) / 2


def _belief(item: ItemPrediction) -> float | None:
    return None if item.belief is None else item.belief.of(item.score)


@dataclass(frozen=True, slots=True)
class ConfidenceSignal:
    """A signal of confidence."""

    name: str
    """As the report has it."""
    read: Callable[[ItemPrediction], float | None]


SIGNALS: Final[Mapping[str, ConfidenceSignal]] = {
    DEFAULT_SIGNAL: ConfidenceSignal(
        "number of quotes", lambda item: item.signals.llm_evidence_count
    ),
    "affirmed_count": ConfidenceSignal(
        "number of affirming quotes", lambda item: item.signals.affirmed
    ),
    "verbalised": ConfidenceSignal("stated by the model", _verbalised),
    "hybrid": ConfidenceSignal("quotes and statement", _hybrid),
    "belief": ConfidenceSignal("belief in the score", _belief),
}


def signal_values(labelled: LabelledUnits, signal: str) -> Array:
    """Return a signal for each item, (units, 8); `MISSING` where there is none.

    Raises `ConfigurationError` when no signal has that name.
    """
    known = SIGNALS.get(signal)
    if known is None:
        message = f"no confidence signal is called {signal!r}; known: {', '.join(SIGNALS)}"
        raise ConfigurationError(message)
    if signal not in labelled.confidences:
        labelled.confidences[signal] = np.array(
            [_values(unit, known.read) for unit in labelled.predictions], dtype=np.float64
        ).reshape(len(labelled.predictions), len(ITEMS))
    return labelled.confidences[signal]


def _values(
    unit: UnitPrediction, read: Callable[[ItemPrediction], float | None]
) -> Sequence[float]:
    if not unit.items:
        return _NOTHING
    values = [read(unit.items[item]) for item in ITEMS]
    return [MISSING if value is None else value for value in values]
