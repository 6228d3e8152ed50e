"""Interview in process: one seed, one interview, and agents that reply with whatever is drawn."""

import asyncio
import io
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, redirect_stderr
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from ai_psychiatrist.domain.errors import AgentFailed, InputError, RequestConflict
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.infrastructure.logging import setup_logging
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from tests.fuzz.hostile import INJECTIONS, REMARKS, unicode_text
from tests.fuzz.interview_invariants import (
    PERSON,
    Seen,
    check_left_alone,
    check_report,
    check_seen,
)
from tests.fuzz.interview_models import (
    InterviewSession,
    session,
)
from tests.fuzz.interview_setups import SETUPS, open_store, service_of
from tests.fuzz.invariants import InvariantBroken
from tests.fuzz.tally import Tally

_HOSTILITIES: Final = (0.05, 0.2, 0.5, 0.9)
_REFUSALS: Final = (InputError, RequestConflict)
_TROUBLES: Final = 3
"""How often a failed step is tried again while the models go on misbehaving."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a seed stands for."""

    seed: int
    setup: str
    hostility: float
    most_turns: int
    inputs: Mapping[str, str | int]


def plan_for(seed: int) -> Plan:
    """Draw how the agents ask, how hostile the models are, and whose interview it is."""
    draw = Random(f"interview/{seed}")  # noqa: S311 - repeatable, no secret
    role = draw.choice((f"{PERSON}, a colleague", f"{PERSON} " * 300, *INJECTIONS, *REMARKS))
    return Plan(
        seed=seed,
        setup=draw.choice(tuple(SETUPS)),
        hostility=draw.choice(_HOSTILITIES),
        most_turns=draw.randint(2, 9),
        inputs={
            "title": f"The lost document {PERSON}",
            "summary": f"A document was lost. {PERSON} {draw.choice(INJECTIONS)}",
            "interviewee_name": f"Robin {PERSON}",
            "interviewee_role": role.replace("\x00", " "),
            "confidence_threshold": draw.choice((20, 60, 90)),
        },
    )


class InterviewBench:
    """The real services of every setup, with models that reply with anything."""

    def __init__(self, services: Mapping[str, InterviewService], log: io.StringIO) -> None:
        self._services = services
        self._log = log

    async def run(self, seeds: Iterable[int], tally: Tally) -> None:
        """Lead an interview of each seed and check every step; raises `InvariantBroken`."""
        for seed in seeds:
            plan = plan_for(seed)
            calls = InterviewSession(seed=seed, hostility=plan.hostility)
            session.set(calls)
            setup_logging("DEBUG", "json" if seed % 2 else "console")
            self._log.seek(0)
            self._log.truncate()
            walk = _Walk(plan, self._services[plan.setup], calls, self._log, tally)
            try:
                await walk.lead()
            except InvariantBroken:
                raise
            except Exception as error:
                if calls.own_error is not None:
                    raise calls.own_error from error
                cause = _first_cause(error)
                detail = f"{plan.setup}: {type(cause).__name__}: {cause}"
                raise InvariantBroken(seed, "nothing_is_raised", detail) from error
            tally.count("interview setup", plan.setup)
            for title, counts in (("interview reply", calls.kinds), ("tool", calls.tools)):
                for name, number in counts.items():
                    tally.count(title, name, number)


def _first_cause(error: BaseException) -> BaseException:
    """Return what happened in the first of the tasks that failed together."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Walk:
    """One interview from its creation to its report, with what is seen on the way."""

    def __init__(
        self,
        plan: Plan,
        service: InterviewService,
        calls: InterviewSession,
        log: io.StringIO,
        tally: Tally,
    ) -> None:
        self._plan = plan
        self._service = service
        self._calls = calls
        self._log = log
        self._tally = tally
        self._draw = Random(f"walk/{plan.seed}")  # noqa: S311 - repeatable
        self._max_calls = SETUPS[plan.setup].limits.max_calls
        self._calls_before = 0

    async def lead(self) -> None:
        created = await self._service.create("incident", self._plan.inputs)
        shown = await self._mended(self._seen(None, created))
        while shown.question is not None:
            await self._be_refused(shown)
            before = shown
            submission = self._submission(before)
            shown = self._seen(before, await self._service.answer(before.id, submission))
            shown = await self._mended(shown)
            again = await self._service.answer(before.id, submission)
            check_left_alone(self._plan.seed, shown, again)
            self._tally.turns += 1
        self._tally.interviews += 1
        self._tally.count("interview state", shown.state.value)
        self._tally.count("end", str(shown.end_reason))
        if shown.state.is_over:
            await self._report(shown)
        await self._service.delete(shown.id)

    def _seen(
        self, before: InterviewSnapshot | None, shown: InterviewSnapshot
    ) -> InterviewSnapshot:
        check_seen(
            self._plan.seed,
            Seen(
                before=before,
                after=shown,
                numbers=frozenset(self._calls.numbers),
                calls=self._calls.call_count,
                calls_of_step=self._calls.call_count - self._calls_before,
                max_calls=self._max_calls,
                log=self._log.getvalue(),
            ),
        )
        self._calls_before = self._calls.call_count
        self._calls.numbers.clear()
        self._tally.count("interview step", shown.state.value)
        if shown.failure is not None:
            self._tally.count("interview failure", shown.failure.value)
        return shown

    async def _mended(self, shown: InterviewSnapshot) -> InterviewSnapshot:
        """Try a failed step again while the models misbehave, then with models that do not."""
        for attempt in range(_TROUBLES + 1):
            if shown.state is not InterviewState.FAILED:
                break
            self._calls.hostility = 0.0 if attempt == _TROUBLES else self._plan.hostility
            shown = self._seen(shown, await self._service.retry(shown.id))
        self._calls.hostility = self._plan.hostility
        if shown.state is InterviewState.FAILED and self._plan.setup != "few calls":
            raise InvariantBroken(
                self._plan.seed, "a_failed_step_succeeds_once_models_behave", str(shown.failure)
            )
        return shown

    def _submission(self, shown: InterviewSnapshot) -> AnswerSubmission:
        assert shown.question is not None
        base = AnswerSubmission(
            question_id=shown.question.id,
            idempotency_key=f"key-{shown.version}",
            version=shown.version,
        )
        if shown.turn >= self._plan.most_turns:
            return replace(base, is_stop=True)
        if self._draw.random() < 0.5:
            return replace(base, option_id=self._draw.choice(shown.question.options).id)
        said = (f"{PERSON} told me on Monday.", PERSON, *INJECTIONS, *REMARKS)
        # Text that holds no control sequence of terminals is what people write.
        return replace(base, text=self._draw.choice(said).replace("\x00", " "))

    async def _be_refused(self, shown: InterviewSnapshot) -> None:
        """Send what cannot be taken; it is refused, and changes nothing."""
        assert shown.question is not None
        good = AnswerSubmission(
            question_id=shown.question.id,
            idempotency_key=f"refused-{shown.version}",
            version=shown.version,
            text="It was so.",
        )
        wrong = (
            replace(good, version=shown.version + self._draw.choice((-1, 1, 10**9))),
            replace(good, question_id="q99"),
            replace(good, text=None, option_id=self._draw.choice(("a9", "", "\ud800", "1"))),
            replace(good, text=self._draw.choice(("", " \n", "\u200b", "a" * 100_000))),
            replace(good, text=unicode_text(self._draw, 20, surrogates=True) + "\ud800"),
            replace(good, idempotency_key=self._draw.choice(("", "a b", "../x", "k" * 200))),
            replace(good, option_id="a1"),
        )
        try:
            await self._service.answer(shown.id, self._draw.choice(wrong))
        except _REFUSALS as refused:
            self._tally.count("refused", type(refused).__name__)
            if PERSON in str(refused):
                raise InvariantBroken(self._plan.seed, "refusals_repeat_nothing", "") from refused
        else:
            raise InvariantBroken(self._plan.seed, "what_cannot_be_taken_is_refused", "")
        check_left_alone(self._plan.seed, shown, await self._service.get(shown.id))

    async def _report(self, shown: InterviewSnapshot) -> None:
        report = await self._reported_at_last(shown)
        if report is None:
            return
        made = self._calls.call_count
        again = await self._service.make_report(shown.id)
        check_report(self._plan.seed, report, again, self._calls.texts, self._log.getvalue())
        if self._calls.call_count != made:
            raise InvariantBroken(self._plan.seed, "a_report_is_written_once", "")
        self._tally.count("interview report", "written")

    async def _reported_at_last(self, shown: InterviewSnapshot) -> InterviewSnapshot | None:
        """Ask for the report, and again of models that behave; none where no call is left."""
        try:
            return await self._service.make_report(shown.id)
        except AgentFailed:
            self._tally.count("interview report", "failed")
        self._calls.hostility = 0.0
        try:
            return await self._service.make_report(shown.id)
        except AgentFailed:
            if self._plan.setup != "few calls":
                raise
            self._tally.count("interview report", "no call left")
            return None


@asynccontextmanager
async def open_interview_bench(state_dir: Path) -> AsyncIterator[InterviewBench]:
    """Open the services of all setups; what they log is kept for the checks."""
    log = io.StringIO()
    with TemporaryDirectory(dir=state_dir) as folder, redirect_stderr(log):
        stores = {name: open_store(Path(folder), number) for number, name in enumerate(SETUPS)}
        try:
            services = {name: service_of(setup, stores[name]) for name, setup in SETUPS.items()}
            yield InterviewBench(services, log)
        finally:
            for store in stores.values():
                store.close()


def run_interviews(seeds: Iterable[int], state_dir: Path) -> Tally:
    """Lead the interviews of these seeds; raises `InvariantBroken`."""

    async def run() -> Tally:
        tally = Tally()
        async with open_interview_bench(state_dir) as bench:
            await bench.run(seeds, tally)
        return tally

    return asyncio.run(run())
