"""One session of an interview: open the services, ask, and print what came out of it."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer
from rich.console import Console

from ai_psychiatrist.api.interview_models import (
    InterviewReportResult,
    interview_report,
    interview_result,
    spoken_words,
)
from ai_psychiatrist.api.interview_requests import assessment_input
from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.cli.console import console_of
from ai_psychiatrist.cli.exits import ExitCode, fail
from ai_psychiatrist.cli.given_files import read_assessment, read_inputs, read_text
from ai_psychiatrist.cli.given_transcript import NamedSpeakers, given_transcript
from ai_psychiatrist.cli.interview_answers import AnswerSource, Scripted, Typed
from ai_psychiatrist.cli.interview_dialogue import Dialogue
from ai_psychiatrist.cli.interview_view import (
    print_interview_report,
    print_spoken,
    working,
)
from ai_psychiatrist.cli.report import print_risk, tell_causes, tell_doctor
from ai_psychiatrist.config import CRISIS_LINE_CURE, Settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import (
    AgentFailed,
    InputError,
    StoreUnusable,
)
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.interview.protocol import BUILTIN_PROTOCOLS, ProtocolKind, load_protocol
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.snapshot import InterviewListing, InterviewSnapshot
from ai_psychiatrist.wiring import Services, bootstrap

_WIDTH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedSession:
    """What the command line asks for."""

    protocol: str | None
    assessment: Path | None
    transcript: Path | None
    speakers: NamedSpeakers
    inputs: tuple[str, ...]
    resume: str | None
    answers: Path | None
    is_json: bool

    def refuse_contradictions(self) -> None:
        """Raise `InputError` for options that do not go together."""
        if self.protocol is None and self.resume is None:
            msg = "name a protocol with --protocol, or an interview with --resume"
            raise InputError(msg, field="--protocol")
        if self.assessment is not None and self.transcript is not None:
            msg = "give either --from or --transcript, not both"
            raise InputError(msg, field="--from")
        if self.resume is not None and (self.assessment or self.transcript or self.inputs):
            msg = "--resume goes on with an interview as it was begun: leave out what began it"
            raise InputError(msg, field="--resume")


def hold(settings: Settings, wanted: WantedSession) -> ExitCode:
    """Hold an interview to its end or until the person leaves, and print what came out of it.

    Raises `InputError` and `ConfigurationError` for what cannot be used.
    """
    wanted.refuse_contradictions()
    answers = _answers(wanted)
    settings, protocol = _with_protocol(settings, wanted.protocol)
    with _opened(settings) as (runner, services):
        if not settings.risk.is_crisis_line_set:
            typer.echo(f"no crisis line is set. {CRISIS_LINE_CURE}", err=True)
        session = _Session(
            runner=runner,
            services=services,
            service=runner.run(services.tenant_interviews.service(LOCAL.tenant)),
            out=_console(wanted),
            is_json=wanted.is_json,
        )
        if wanted.resume is not None:
            with working():
                snapshot = runner.run(session.service.retry(wanted.resume))
        else:
            snapshot = session.begin(wanted, protocol)
        return session.carry_on(snapshot, answers)


def kept_interviews(settings: Settings) -> tuple[InterviewListing, ...]:
    """Return the list of the interviews that are kept."""
    with _opened(settings) as (runner, services):
        return runner.run(runner.run(services.tenant_interviews.service(LOCAL.tenant)).list())


def delete_interview(settings: Settings, interview_id: str) -> None:
    """Remove an interview; raises `NotFound`."""
    with _opened(settings) as (runner, services):
        runner.run(
            runner.run(services.tenant_interviews.service(LOCAL.tenant)).delete(interview_id)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """An interview between its first question and its end."""

    runner: asyncio.Runner
    services: Services
    service: InterviewService
    out: Console
    is_json: bool

    def begin(self, wanted: WantedSession, protocol: str) -> InterviewSnapshot:
        """Create the interview, from a transcript or an assessment where one is given."""
        inputs = read_inputs(list(wanted.inputs))
        assessment: AssessmentInput | None = None
        if wanted.assessment is not None:
            assessment = read_assessment(wanted.assessment)
        elif wanted.transcript is not None:
            assessment = self._assessed(
                given_transcript(
                    str(wanted.transcript),
                    self.services.settings,
                    wanted.speakers,
                    field="--transcript",
                )
            )
        with working():
            return self.runner.run(self.service.create(protocol, inputs, assessment))

    def carry_on(self, snapshot: InterviewSnapshot, answers: AnswerSource) -> ExitCode:
        """Ask what is open, then print the report; where danger holds it, words for the person."""
        typer.echo(
            f"interview {snapshot.id}, kept for {self.services.settings.interview.keep_days} days",
            err=True,
        )
        held = Dialogue(self.service, self.runner, answers, self.out).hold(snapshot)
        if held.is_left:
            self._print_json(held.snapshot, None)
            self._tell_how_to_go_on("left", snapshot.id)
            return ExitCode.PARTIAL if isinstance(answers, Scripted) else ExitCode.STOPPED
        if held.snapshot.state is InterviewState.FAILED:
            return self._failed(held.snapshot)
        return self._conclude(held.snapshot, was_held_now=not snapshot.state.is_over)

    def _conclude(self, snapshot: InterviewSnapshot, *, was_held_now: bool) -> ExitCode:
        try:
            with working(is_long=snapshot.kind != ProtocolKind.ITEMS):
                report = self.runner.run(self.service.make_report(snapshot.id))
        except AgentFailed as error:
            return self._failed(snapshot, error.code)
        resources = self.services.crisis_resources
        result = interview_report(report, crisis_resources=resources)
        print_spoken(self.out, spoken_words(snapshot, crisis_resources=resources))
        # The person who was just held reads along: the account waits for whoever resumes it.
        if result.danger is None or not was_held_now:
            print_interview_report(self.out, result)
        self._print_json(snapshot, result)
        is_whole = not (result.total and result.total.na_count) and report.danger is None
        return ExitCode.COMPLETE if is_whole else ExitCode.PARTIAL

    def _failed(self, snapshot: InterviewSnapshot, code: FailureCode | None = None) -> ExitCode:
        self._print_json(snapshot, None)
        reason = code or snapshot.failure or FailureCode.INTERNAL_ERROR
        typer.echo(f"error: a model failed ({reason.value}); what was answered is kept", err=True)
        for model in self.services.interview_models[:1]:
            tell_doctor(model)
        self._tell_how_to_go_on("stopped", snapshot.id)
        return ExitCode.NOTHING_FINISHED

    def _tell_how_to_go_on(self, what: str, interview_id: str) -> None:
        typer.echo(
            f"{what}; go on with: ai-psychiatrist interview --resume {interview_id}", err=True
        )

    def _print_json(
        self, snapshot: InterviewSnapshot, report: InterviewReportResult | None
    ) -> None:
        if not self.is_json:
            return
        document = {
            "interview": interview_result(
                snapshot, crisis_resources=self.services.crisis_resources
            ).model_dump(mode="json"),
            "report": None if report is None else report.model_dump(mode="json"),
        }
        # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
        typer.echo(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))

    def _assessed(self, transcript: Transcript) -> AssessmentInput:
        with working():
            options = AssessmentOptions(parts=frozenset({Part.SCORES}))
            assessment: Assessment = self.runner.run(
                self.services.assessor.assess(transcript, options)
            )
        risk = assessment.risk
        if risk.signals or risk.level is not RiskLevel.NONE:
            print_risk(self.out, risk, where=" in the transcript")
        if assessment.quantitative is None:
            typer.echo("error: the transcript was not scored, because a model failed", err=True)
            tell_causes(assessment.status, self.services.connections.reasons(assessment))
            raise typer.Exit(ExitCode.NOTHING_FINISHED)
        return assessment_input(assessment.quantitative.items)


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[asyncio.Runner, Services]]:
    """Open the services in a loop that stands still while a person thinks.

    Reading the keyboard inside the loop would keep Ctrl-C waiting for the Enter key.
    """
    with asyncio.Runner() as runner:
        entered = bootstrap(settings)
        services = runner.run(entered.__aenter__())
        try:
            yield runner, services
        except StoreUnusable as error:
            fail(str(error))
        finally:
            runner.run(entered.__aexit__(None, None, None))


def _answers(wanted: WantedSession) -> AnswerSource:
    if wanted.answers is None:
        return Typed()
    return Scripted(read_text(wanted.answers, field="--answers"))


def _console(wanted: WantedSession) -> Console:
    """Return where the dialogue is printed: not in the JSON, nowhere when nobody reads it."""
    if wanted.is_json and not sys.stdin.isatty():
        return Console(quiet=True)
    return console_of(_WIDTH, widest=_WIDTH, is_error_stream=wanted.is_json)


def _with_protocol(settings: Settings, protocol: str | None) -> tuple[Settings, str]:
    """Return the protocol's id, and settings that know a folder that was named."""
    if protocol is None or protocol in BUILTIN_PROTOCOLS or not Path(protocol).is_dir():
        return settings, protocol or ""
    folder = Path(protocol).resolve()
    found = load_protocol(folder)
    known = settings.interview.protocols
    if folder in {one.resolve() for one in known}:
        return settings, found.id
    group = settings.interview.model_copy(update={"protocols": (*known, folder)})
    return settings.model_copy(update={"interview": group}), found.id
