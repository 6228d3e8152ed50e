"""Signals of confidence: what a run says about how far an item's score can be trusted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.scores.prediction_columns import UNKNOWN, Counts, UnitRows
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.ranks import RankedValues, ranked

DEFAULT_SIGNAL: Final = "llm_evidence_count"
MISSING: Final = -1.0
"""The rank of an item without the signal: below all that have it."""
_ENOUGH_QUOTES: Final = 3


def _verbalised(rows: UnitRows) -> Array:
    return np.where(rows.confidence == UNKNOWN, MISSING, (rows.confidence - 1) / 4)


def _hybrid(rows: UnitRows) -> Array:
    quotes = np.minimum(rows.quotes, _ENOUGH_QUOTES) / _ENOUGH_QUOTES
    said = (rows.confidence - 1) / 4
    return np.where(rows.confidence == UNKNOWN, MISSING, (said + quotes) / 2)


def _counted(counts: Counts, rows: UnitRows) -> Array:
    return np.where(rows.has_items[:, None], counts, MISSING)


@dataclass(frozen=True, slots=True)
class ConfidenceSignal:
    """A signal of confidence."""

    name: str
    """As the report has it."""
    read: Callable[[UnitRows], Array]
    """(units, 8), `MISSING` where there is none."""


SIGNALS: Final[Mapping[str, ConfidenceSignal]] = {
    DEFAULT_SIGNAL: ConfidenceSignal("number of quotes", lambda rows: _counted(rows.quotes, rows)),
    "affirmed_count": ConfidenceSignal(
        "number of affirming quotes", lambda rows: _counted(rows.affirmed, rows)
    ),
    "verbalised": ConfidenceSignal("stated by the model", _verbalised),
    "hybrid": ConfidenceSignal("quotes and statement", _hybrid),
    "belief": ConfidenceSignal("belief in the score", lambda rows: rows.belief),
}


def signal_values(labelled: LabelledUnits, signal: str) -> Array:
    """Return a signal for each item, (units, 8); `MISSING` where there is none.

    Raises `ConfigurationError` when no signal has that name.
    """
    known = SIGNALS.get(signal)
    if known is None:
        message = f"no confidence signal is called {signal!r}; known: {', '.join(SIGNALS)}"
        raise ConfigurationError(message)
    return known.read(labelled.predictions.rows)


def ranked_signal(labelled: LabelledUnits, signal: str) -> RankedValues:
    """Return a signal by the ranks of its values; raises as `signal_values` does."""
    if signal not in labelled.ranked:
        values = signal_values(labelled, signal)
        labelled.ranked[signal] = ranked(values, labelled.items.is_both)
    return labelled.ranked[signal]
