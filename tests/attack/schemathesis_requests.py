"""Requests that schemathesis makes from the API's own document, and checks of its answers.

The API has the rule baseline for a model. Run with `python -m tests.attack.schemathesis_requests`.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis import Case, CheckFunction, GenerationMode
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi import checks as openapi_checks

from tests.integration.running_app import client_of, settings_with
from tests.sweeps import SCHEMATHESIS_REQUESTS

CHECKS: Final[list[CheckFunction]] = [
    schemathesis.checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
    openapi_checks.negative_data_rejection,
]


@dataclass(slots=True, kw_only=True)
class Swept:
    """What came of the requests."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    """What was found, with the operation → how often."""
    examples: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return a table."""
        statuses = ", ".join(f"{status}: {n}" for status, n in sorted(self.statuses.items()))
        lines = [f"  {n} x {kind}\n    {self.examples[kind]}" for kind, n in self.kinds.items()]
        total = f"{self.requests} requests, {sum(self.kinds.values())} findings"
        return "\n".join([total, f"  answers by status: {statuses}", *lines])


def run(count: int, seed: int, folder: Path, **environment: str) -> Swept:
    """Send so many requests, as many to each operation; the same seed makes the same requests."""
    swept = Swept()
    with client_of(settings_with(folder, **environment)) as client:
        document = client.get("/openapi.json").json()
        schema = schemathesis.openapi.from_dict(document)
        operations = [found.ok() for found in schema.get_all_operations()]
        rounds = [(one, mode) for one in operations for mode in GenerationMode]
        for place, (operation, mode) in enumerate(rounds):
            share = (count * (place + 1)) // len(rounds) - (count * place) // len(rounds)
            strategy = operation.as_strategy(mode)
            _send(strategy, share, seed=seed, url=str(client.base_url), swept=swept)
    return swept


def _send(strategy: SearchStrategy[Case], share: int, *, seed: int, url: str, swept: Swept) -> None:
    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=max(share, 1),
        phases=[Phase.generate],
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=strategy)
    def send(case: Case) -> None:
        _one(case, url, swept)

    # Of an operation without fields nothing can be said wrongly.
    with suppress(Unsatisfiable):
        send()


def _one(case: Case, url: str, swept: Swept) -> None:
    response = case.call(base_url=url)
    swept.requests += 1
    swept.statuses[response.status_code] += 1
    try:
        case.validate_response(response, checks=CHECKS)
    except FailureGroup as found:
        for one in found.exceptions:
            _note(one, case, swept)
    except Failure as found:
        _note(found, case, swept)


def _note(found: BaseException, case: Case, swept: Swept) -> None:
    kind = f"{type(found).__name__} at {case.operation.label}"
    swept.kinds[kind] += 1
    swept.examples.setdefault(kind, f"{case.as_curl_command()[:600]}\n    {str(found)[:300]}")


def main() -> int:
    """Print what was found; returns 1 when that is anything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=SCHEMATHESIS_REQUESTS.whole)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        swept = run(options.count, options.seed, Path(folder))
    seconds = time.monotonic() - started
    sys.stdout.write(f"{swept}\n  {seconds:.0f} s, seed {options.seed}\n")
    return 1 if swept.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
