"""What leaves the program: help, tables, bundles, pages, proofs, runs, and what is stored."""

from collections.abc import Iterator
from itertools import chain

from tests.golden import (
    exports_certificates,
    exports_help,
    exports_pages,
    exports_refused,
    exports_results,
    exports_runs,
    exports_store_files,
    exports_stores,
)
from tests.golden.answer import Answer
from tests.golden.exports_given import made_results
from tests.golden.ways import scratch


def answers() -> Iterator[Answer]:
    """Yield what the commands tell of themselves, of results, of runs and of stores."""
    yield from exports_help.answers()
    with scratch() as folder:
        given = made_results(folder)
        yield from chain(
            exports_results.answers(folder, given),
            exports_refused.answers(folder, given),
            exports_pages.answers(folder, given),
        )
    yield from exports_certificates.answers()
    yield from exports_runs.answers()
    yield from exports_stores.answers()
    yield from exports_store_files.answers()
