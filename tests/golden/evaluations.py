"""Datasets assessed and measured: the command `evaluate`, references, certificates, and Python."""

from collections.abc import Iterator

from tests.golden import (
    evaluations_datasets,
    evaluations_figures,
    evaluations_odd,
    evaluations_parts,
    evaluations_proofs,
    evaluations_replication,
    evaluations_runs,
    evaluations_served,
    evaluations_sets,
)
from tests.golden.answer import Answer
from tests.golden.ways import scratch

_PARTS = (
    evaluations_datasets,
    evaluations_runs,
    evaluations_odd,
    evaluations_served,
    evaluations_parts,
    evaluations_figures,
    evaluations_sets,
    evaluations_proofs,
    evaluations_replication,
)


def answers() -> Iterator[Answer]:
    """Yield what each part of the area is answered, each in a folder of its own."""
    for part in _PARTS:
        with scratch() as folder:
            yield from part.answers(folder)
