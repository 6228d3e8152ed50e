"""Assess in process: one seed, one interview, one way of asking, and replies drawn on the way."""

import asyncio
import io
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ai_psychiatrist import wiring
from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.baseline.answers import baseline_route
from ai_psychiatrist.api.problems import nothing_finished
from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import FULL, Part
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import Account, Assessment, AssessmentStatus
from ai_psychiatrist.infrastructure.logging import setup_logging
from ai_psychiatrist.infrastructure.telemetry.watching import Telemetry
from ai_psychiatrist.llm.endpoints import EndpointOptions
from ai_psychiatrist.results.one_part import qualitative_result, quantitative_result
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import Services
from tests.fuzz.invariants import InvariantBroken, Observed, check
from tests.fuzz.models import FuzzConnections, Session, session
from tests.fuzz.tally import Tally
from tests.fuzz.transcripts import Interview, draw_interview
from tests.integration.running_app import settings_with
from tests.integration.soundness import Json

_ONCE_MORE_EVERY = 20
_DEADLINE_SECONDS = 60.0
_SHORT_DEADLINE_SECONDS = 0.2
_HOSTILITIES = (0.02, 0.1, 0.3, 0.6, 1.0)
_COMMON = {"PYDANTIC_AI_RETRIES": "1", "FEEDBACK_MAX_ITERATIONS": "1", "LOG_LEVEL": "DEBUG"}
SETUPS: Mapping[str, Mapping[str, str]] = {
    "agents": {},
    "agents with marks": {"QUALITATIVE_DELIMIT_TRANSCRIPT": "true", "LOG_FORMAT": "json"},
    "plain": {"PYDANTIC_AI_ENABLED": "false"},
    "fuzzy quotes": {"QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_MODE": "fuzzy"},
    "verified narrative": {"QUALITATIVE_VALIDATE_QUOTES": "true"},
    "insisting": {"QUANTITATIVE_EVIDENCE_QUOTE_FAIL_ON_ALL_REJECTED": "true"},
    "few calls": {"MODEL_MAX_CALLS": "9"},
    "unchecked": {"QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_ENABLED": "false"},
    "hanging": {"MODEL_DEFAULT": "hanging"},
}
_ROUTES: Mapping[str, frozenset[Part]] = {
    "full": FULL,
    "quantitative": frozenset({Part.SCORES}),
    "qualitative": frozenset({Part.FINDINGS}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a seed stands for."""

    seed: int
    interview: Interview
    setup: str
    route: str
    hostility: float
    deadline_seconds: float


def plan_for(seed: int) -> Plan:
    """Draw interview, settings and route; models hang in few, because hanging takes time."""
    draw = Random(f"plan/{seed}")  # noqa: S311  repeatable, no secret
    is_hanging = draw.random() < 0.004
    steady = [name for name in SETUPS if name != "hanging"]
    return Plan(
        seed=seed,
        interview=draw_interview(draw),
        setup="hanging" if is_hanging else draw.choice(steady),
        route=draw.choice(("full", "full", "full", "quantitative", "qualitative")),
        hostility=draw.choice(_HOSTILITIES),
        deadline_seconds=_SHORT_DEADLINE_SECONDS if is_hanging else _DEADLINE_SECONDS,
    )


class Bench:
    """The real services of every setup, with models that reply with anything."""

    def __init__(self, services: Mapping[str, Services], log: io.StringIO) -> None:
        self._services = services
        self._log = log

    async def run(self, seeds: Iterable[int], tally: Tally) -> None:
        """Assess each seed and check it, some twice; raises `InvariantBroken`."""
        for seed in seeds:
            plan = plan_for(seed)
            body = await self.assess(plan, tally)
            if seed % _ONCE_MORE_EVERY == 0 and _is_repeatable(plan, body):
                again = await self.assess(plan, Tally())
                tally.repeated += 1
                if _comparable(body) != _comparable(again):
                    raise InvariantBroken(seed, "the_same_seed_gives_the_same_result", "")

    async def assess(self, plan: Plan, tally: Tally) -> Json:
        """Assess once, check everything and count."""
        services = self._services[plan.setup]
        calls = Session(seed=plan.seed, hostility=plan.hostility, may_hang=plan.setup == "hanging")
        session.set(calls)
        setup_logging(services.settings.log.level, services.settings.log.format)
        self._log.seek(0)
        self._log.truncate()
        started = time.perf_counter()
        try:
            assessment = await services.assessor.assess(
                parse_transcript(plan.interview.text),
                AssessmentOptions(
                    parts=_ROUTES[plan.route],
                    deadline_seconds=plan.deadline_seconds,
                ),
            )
            seconds = time.perf_counter() - started
            observed = _observed(plan, assessment, services, calls, self._log.getvalue(), seconds)
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            raise InvariantBroken(plan.seed, "nothing_is_raised", detail) from error
        if calls.own_error is not None:
            raise calls.own_error
        body = check(plan.seed, observed)
        tally.add_result(observed.status, body)
        tally.seconds = max(tally.seconds, seconds)
        tally.count("setup", plan.setup)
        tally.count("route", plan.route)
        for kind, number in calls.kinds.items():
            tally.count("reply", kind, number)
        return body


def _observed(
    plan: Plan,
    assessment: Assessment,
    services: Services,
    calls: Session,
    log: str,
    seconds: float,
) -> Observed:
    result = _result(plan.route, assessment)
    has_failed = assessment.status is AssessmentStatus.FAILED
    problem = nothing_finished(assessment, ()) if has_failed else None
    return Observed(
        interview=plan.interview,
        status=200 if problem is None else problem.status_code,
        result=result.model_dump_json(),
        problem=None if problem is None else bytes(problem.response({"state": {}}).body).decode(),
        report=result if isinstance(result, Assessment) else None,
        replies=calls.texts,
        calls=calls.call_count,
        max_calls=services.settings.model.max_calls,
        log=log,
        seconds=seconds,
        deadline_seconds=plan.deadline_seconds,
    )


def _result(route: str, assessment: Assessment) -> Account:
    """Return what a route answers with; the whole account where its part did not finish."""
    match route:
        case "quantitative" if assessment.quantitative is not None:
            return quantitative_result(assessment)
        case "qualitative" if assessment.qualitative is not None:
            return qualitative_result(assessment)
        case _:
            return assessment


def _is_repeatable(plan: Plan, body: Json) -> bool:
    """Return whether no clock decides: not who was cancelled, nor who got the last call."""
    is_spent = any(one["code"] == "call_budget_spent" for one in body["failures"])
    return plan.setup != "hanging" and not is_spent


def _comparable(body: Json) -> Json:
    attempts = [{**attempt, "duration_ms": 0} for attempt in body["attempts"]]
    return {**body, "attempts": attempts, "assessment_id": ""}


@asynccontextmanager
async def open_bench(state_dir: Path) -> AsyncIterator[Bench]:
    """Open the services of all setups; what they log is kept for the checks."""
    log = io.StringIO()
    async with AsyncExitStack() as stack:
        stack.enter_context(redirect_stderr(log))
        services = {
            name: await stack.enter_async_context(
                _services(settings_with(state_dir, **{**_COMMON, **environment}))
            )
            for name, environment in SETUPS.items()
        }
        yield Bench(services, log)


@asynccontextmanager
async def _services(settings: Settings) -> AsyncIterator[Services]:
    connections = FuzzConnections(
        EndpointOptions(
            models=settings.model,
            openai=settings.openai,
            ollama=settings.ollama,
            pydantic_ai=settings.pydantic_ai,
            local={BASELINE: baseline_route()},
        )
    )
    try:
        yield wiring._services(settings, connections, key=bytes(32), telemetry=Telemetry())
    finally:
        await connections.aclose()


def run_in_process(seeds: Iterable[int], state_dir: Path) -> Tally:
    """Assess these seeds; raises `InvariantBroken`."""

    async def run() -> Tally:
        tally = Tally()
        async with open_bench(state_dir) as bench:
            await bench.run(seeds, tally)
        return tally

    return asyncio.run(run())
