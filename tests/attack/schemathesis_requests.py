"""Requests that schemathesis makes from the API's own document, and checks of its answers.

The API has the rule baseline for a model and some records; half of the requests go to a server that
asks for keys. Run with `python -m tests.attack.schemathesis_requests`.
"""

import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import hypothesis
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis import Case, CheckFunction, GenerationMode
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Err
from schemathesis.schemas import APIOperation, BaseSchema
from schemathesis.specs.openapi import checks as openapi_checks

from tests.attack.findings import Findings, sweep
from tests.attack.swept_callers import Callers, keys_in
from tests.attack.swept_stock import TRANSCRIPT, Stock
from tests.integration.running_app import client_of, settings_with
from tests.sweeps import SCHEMATHESIS_REQUESTS

Operation: TypeAlias = APIOperation[Any, Any, Any, Any]
OperationCase: TypeAlias = Case[Operation]

CHECKS: Final[list[CheckFunction]] = [
    schemathesis.checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
    openapi_checks.negative_data_rejection,
]
_MEANINGFUL: Final = 0.75
"""Share of the requests that name what is stored, or a transcript that can be read."""


@dataclass(slots=True, kw_only=True)
class Sweeping:
    """One server that is swept."""

    url: str
    session: requests.Session
    callers: Callers
    stock: Stock
    random: Random
    swept: Findings = field(default_factory=Findings)

    def send(self, case: OperationCase) -> None:
        """Send one request, often changed into one that means something, and check the answer."""
        self._say_what_is_meant(case)
        response = case.call(
            base_url=self.url,
            session=self.session,
            headers=self.callers.next(),
            allow_redirects=False,
        )
        self.session.cookies.clear()
        self.swept.count(response.status_code)
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as found:
            for one in found.exceptions:
                self._note(one, case)
        except Failure as found:
            self._note(found, case)

    def _say_what_is_meant(self, case: OperationCase) -> None:
        """Put ids of what is stored, and a transcript that can be read, where any are allowed."""
        if self.random.random() > _MEANINGFUL:
            return
        if _is_positive(case, ParameterLocation.PATH):
            for name in case.path_parameters:
                known = self.stock.known(name)
                if known is not None:
                    case.path_parameters[name] = known
        body = case.body
        if (
            _is_positive(case, ParameterLocation.BODY)
            and isinstance(body, dict)
            and "transcript_text" in body
        ):
            case.body = {"transcript_text": TRANSCRIPT}

    def _note(self, found: BaseException, case: OperationCase) -> None:
        kind = f"{type(found).__name__} at {case.operation.label}"
        self.swept.note(kind, f"{case.as_curl_command()[:600]}\n    {str(found)[:400]}")


def _is_positive(case: OperationCase, location: ParameterLocation) -> bool:
    part = None if case.meta is None else case.meta.components.get(location)
    return part is not None and part.mode.is_positive


def run(count: int, seed: int, folder: Path) -> Findings:
    """Send so many requests, as many to each operation; the same seed makes the same requests."""
    swept = Findings()
    swept.include(_sweep(count // 2, seed, folder / "open", ()))
    closed = folder / "closed"
    swept.include(_sweep(count - count // 2, seed, closed, keys_in(closed), AUTH_REQUIRED="true"))
    return swept


def _sweep(
    count: int, seed: int, folder: Path, keys: tuple[str, ...], **environment: str
) -> Findings:
    random = Random(seed)  # noqa: S311  nothing secret is made
    with (
        client_of(settings_with(folder, **environment)) as client,
        requests.Session() as session,
    ):
        # It would look for a proxy before each request.
        session.trust_env = False
        callers = Callers(keys=keys, client=client, random=random)
        stock = Stock(client=client, headers=callers.owner, random=random)
        stock.fill()
        sweeping = Sweeping(
            url=str(client.base_url),
            session=session,
            callers=callers,
            stock=stock,
            random=random,
        )
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        # A second credential beside the caller's is refused before anything else is looked at.
        schema.config.generation.update(with_security_parameters=False)
        rounds = [(one, mode) for one in _operations(schema) for mode in GenerationMode]
        random.shuffle(rounds)
        for place, (operation, mode) in enumerate(rounds):
            share = (count * (place + 1)) // len(rounds) - (count * place) // len(rounds)
            if share:
                _send(operation.as_strategy(mode), share, seed=seed, sweeping=sweeping)
    return sweeping.swept


def _operations(schema: BaseSchema) -> list[Operation]:
    operations: list[Operation] = []
    for found in schema.get_all_operations():
        if isinstance(found, Err):
            raise found.err()
        operations.append(found.ok())
    return operations


def _send(
    strategy: SearchStrategy[OperationCase], share: int, *, seed: int, sweeping: Sweeping
) -> None:
    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=share,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=strategy)
    def send(case: OperationCase) -> None:
        sweeping.send(case)

    # Of an operation without fields nothing can be said wrongly.
    with suppress(Unsatisfiable):
        send()


def _run_share(count: int, seed: int) -> Findings:
    with tempfile.TemporaryDirectory() as folder:
        return run(count, seed, Path(folder))


def main() -> int:
    """Print what was found; returns 1 when that is anything."""
    return sweep(_run_share, whole=SCHEMATHESIS_REQUESTS.whole, what=__doc__)


if __name__ == "__main__":
    sys.exit(main())
