"""The `interview` commands: hold an interview in a terminal, and look after those that are kept."""

import asyncio
import json
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from rich.console import Console

from ai_psychiatrist.agents.interview.schemas import interview_schemas
from ai_psychiatrist.api.interview_models import (
    InterviewReportResult,
    interview_report,
    interview_result,
    spoken_words,
)
from ai_psychiatrist.api.interview_requests import GivenAssessment, assessment_input
from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import (
    ExitCode,
    console_of,
    ending_on_stop,
    require,
    say,
    working,
)
from ai_psychiatrist.cli.files import ParticipantOption, given_transcript, speaker_roles
from ai_psychiatrist.cli.interview_view import (
    print_answer,
    print_interview_report,
    print_question,
    print_spoken,
)
from ai_psychiatrist.cli.report import print_risk, tell_causes, tell_doctor
from ai_psychiatrist.cli.settings import ModelOption, quiet, read_settings
from ai_psychiatrist.config import CRISIS_LINE_CURE, Settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import AgentFailed, InputError, RequestConflict
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import InterviewState, Question
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.interview.protocol import BUILTIN_PROTOCOLS, ProtocolKind, load_protocol
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.wiring import Services, bootstrap

STOP: Final = "stop"
_PROMPT: Final = "> "
_GO_ON: Final = "go on with: ai-psychiatrist interview --resume"
_NOT_TEXT: Final = "the answer is not UTF-8 text"
_LONGEST_NUMBER: Final = 4
_MOST_BYTES: Final = 1 << 24
_WIDTH: Final = 100

interview_app = CommandApp(
    help="Ask a person what is still unknown.",
    invoke_without_command=True,
)


@interview_app.callback(
    epilog="""
Examples:

  ai-psychiatrist interview --protocol phq8

  ai-psychiatrist interview --protocol phq8 --transcript interview.txt

  ai-psychiatrist interview --protocol phq8 --from assessment.json --answers answers.txt --json

  ai-psychiatrist interview --resume ID

  ai-psychiatrist interview --protocol incident --input title=Lunch --input summary=@lunch.txt …

An answer is an option's number, its wording, or your own words; stop ends the interview. With
--answers it is a line of a file.

Exit status: 0 nothing is left unknown, 1 items are unknown, the interview is held for safety, or
the answers of --answers ran out, 2 bad input or settings, 3 a model failed (go on with --resume),
130 left by Ctrl-C or the end of the input (go on with --resume).
"""
)
def interview(
    context: typer.Context,
    *,
    protocol: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="phq8, incident, or the folder of a protocol."),
    ] = None,
    assessment: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Ask what is unknown in this assessment."),
    ] = None,
    transcript: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Assess this transcript first; ask what is unknown."),
    ] = None,
    participant: ParticipantOption = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=TEXT", help="An input, or NAME=@FILE; repeatable."),
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with an interview.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take answers from a file, one a line.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the interview and its report as JSON.")
    ] = False,
    model: ModelOption = None,
) -> None:
    """Hold an interview; it can be left at any time and gone on with."""
    if context.invoked_subcommand is not None:
        return
    with ending_on_stop("stopped; `ai-psychiatrist interview list` shows what is kept"):
        settings = quiet(read_settings(model))
        require(
            (protocol, resume) != (None, None),
            "name a protocol with --protocol, or an interview with --resume",
            field="--protocol",
        )
        require(
            assessment is None or transcript is None,
            "give either --from or --transcript, not both",
            field="--from",
        )
        require(
            resume is None or not (assessment or transcript or inputs),
            "--resume goes on with an interview as it was begun: leave out what began it",
            field="--resume",
        )
        lines, is_scripted = _typed(), answers is not None
        if answers is not None:
            script = _read_text(answers, field="--answers").splitlines()
            numbered = enumerate(map(str.strip, script), start=1)
            lines = ((number, line) for number, line in numbered if line)
        settings, protocol_id = _with_protocol(settings, protocol)
        # Nothing of the dialogue in the JSON, and nothing anywhere where nobody reads it.
        is_quiet = as_json and not sys.stdin.isatty()
        with _opened(settings, asks=True) as (runner, services, service):
            session = _Session(
                runner=runner,
                services=services,
                service=service,
                lines=lines,
                is_scripted=is_scripted,
                out=Console(quiet=True)
                if is_quiet
                else console_of(_WIDTH, widest=_WIDTH, is_error_stream=as_json),
                is_json=as_json,
            )
            if resume is not None:
                step = service.retry(resume)
            else:
                given = _read_inputs(inputs or ())
                known: AssessmentInput | None = None
                if assessment is not None:
                    known = _read_assessment(assessment)
                elif transcript is not None:
                    roles = speaker_roles(participant, None)
                    known = session.assessed(
                        given_transcript(str(transcript), settings, roles, field="--transcript")
                    )
                step = service.create(protocol_id, given, known)
            with working():
                snapshot = runner.run(step)
            code = session.hold(snapshot)
    raise typer.Exit(code)


@interview_app.command()
def schemas() -> None:
    """Print the schemas of the seven agents as they go out to models."""
    typer.echo(json.dumps(interview_schemas(), indent=2))


@interview_app.command("list")
def list_interviews() -> None:
    """Print the ids of the interviews that are kept: held ones first, then the latest."""
    with _opened(quiet(read_settings())) as (runner, _, service):
        kept = runner.run(service.list())
    for one in kept:
        state = one.state.value if one.is_readable else "unreadable"
        typer.echo(f"{one.id}  {one.protocol_id:<10}  {state:<12}  {one.updated_at}")


# An id may begin with a dash.
@interview_app.command(context_settings={"ignore_unknown_options": True})
def delete(
    interview_id: Annotated[str, typer.Argument(metavar="ID", help="The interview's id.")],
) -> None:
    """Remove all that is kept of an interview."""
    with _opened(quiet(read_settings())) as (runner, _, service):
        runner.run(service.delete(interview_id))


@contextmanager
def _opened(
    settings: Settings, *, asks: bool = False
) -> Iterator[tuple[asyncio.Runner, Services, InterviewService]]:
    """Open the services in a loop that stands still while a person thinks.

    Reading the keyboard inside the loop would keep Ctrl-C waiting for the Enter key.
    """
    with asyncio.Runner() as runner:
        entered = bootstrap(settings)
        services = runner.run(entered.__aenter__())
        if asks and not settings.risk.is_crisis_line_set:
            say(f"no crisis line is set. {CRISIS_LINE_CURE}")
        try:
            yield runner, services, runner.run(services.tenant_interviews.service(LOCAL.tenant))
        finally:
            runner.run(entered.__aexit__(None, None, None))


def _with_protocol(settings: Settings, protocol: str | None) -> tuple[Settings, str]:
    """Return the protocol's id, and settings that know a folder that was named."""
    if protocol is None or protocol in BUILTIN_PROTOCOLS or not Path(protocol).is_dir():
        return settings, protocol or ""
    folder = Path(protocol).resolve()
    found, known = load_protocol(folder), settings.interview.protocols
    if folder in {one.resolve() for one in known}:
        return settings, found.id
    group = settings.interview.model_copy(update={"protocols": (*known, folder)})
    return settings.model_copy(update={"interview": group}), found.id


def _read_text(path: Path, *, field: str) -> str:
    """Return a UTF-8 file exactly as it is; raises `InputError` naming the option."""
    try:
        return read_regular(path, most_bytes=_MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{field}: the file is not UTF-8 text; convert it, for example with iconv", field=field
        ) from None
    except OSError as error:
        raise InputError(
            f"{field}: the file cannot be read: {reason_of(error)}", field=field
        ) from None


def _read_assessment(path: Path) -> AssessmentInput:
    """Read what `assess --json` or the HTTP API gave; raises `InputError` for anything else."""
    text = _read_text(path, field="--from")
    try:
        return GivenAssessment.model_validate_json(text).as_input()
    except ValidationError:
        raise InputError(
            "--from: the file holds no assessment; make one with "
            "`ai-psychiatrist assess FILE --json`",
            field="--from",
        ) from None


def _read_inputs(given: Sequence[str]) -> dict[str, str]:
    """Return the inputs of `NAME=TEXT` or `NAME=@FILE`; raises `InputError`."""
    inputs: dict[str, str] = {}
    for one in given:
        name, separator, value = one.partition("=")
        require(
            name.strip() and separator,
            "--input: write NAME=TEXT or NAME=@FILE, for example title=Lunch",
            field="--input",
        )
        is_file = value.startswith("@")
        inputs[name.strip()] = _read_text(Path(value[1:]), field="--input") if is_file else value
    return inputs


class _AnswersEnded(Exception):
    """No further answer comes; the interview waits for the next one."""


def _typed() -> Iterator[tuple[int, str]]:
    """Yield what a person types, without blank lines; numbered 0, for they can be typed again."""
    # Arrow keys edit the line then; nothing typed is kept in a file.
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415
    is_shown = sys.stdout.isatty()
    while True:
        if not is_shown and sys.stdin.isatty():
            # The prompt is kept out of output that goes elsewhere than to a terminal.
            typer.echo(_PROMPT, nl=False, err=True)
        try:
            line = input(_PROMPT if is_shown else "")
        except EOFError:
            return
        except UnicodeDecodeError:
            say(_NOT_TEXT)
            continue
        if line.strip():
            yield 0, line


def read_line(line: str, question: Question, *, version: int) -> AnswerSubmission:
    """Return what a line answers: `stop`, an option's number, its wording, or free text.

    `version`: of the interview that asks. Raises `InputError` for what is none of them.
    """
    key, said = str(uuid.uuid4()), line.strip()
    answer = partial(
        AnswerSubmission, question_id=question.id, idempotency_key=key, version=version
    )
    if said.casefold() == STOP:
        return answer(is_stop=True)
    in_words = ", or say it in words, such as `4 days`" if question.allows_free_text else ""
    choose = f"choose a number from 1 to {len(question.options)}{in_words}"
    if said.isdecimal():
        # A bare number may have been meant as days: it is no free text.
        number = int(said) if len(said) <= _LONGEST_NUMBER else 0
        require(1 <= number <= len(question.options), choose, field="answer")
        return answer(option_id=question.options[number - 1].id)
    for option in question.options:
        if _plain_wording(option.text) == _plain_wording(said):
            return answer(option_id=option.id)
    require(question.allows_free_text, choose, field="answer")
    # A terminal's wrong bytes become lone surrogates.
    is_text = not any("\ud800" <= character <= "\udfff" for character in said)
    require(is_text, _NOT_TEXT, field="answer")
    return answer(text=said)


def _plain_wording(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """An interview between its first question and its end."""

    runner: asyncio.Runner
    services: Services
    service: InterviewService
    lines: Iterator[tuple[int, str]]
    """The answers, each with the number of its line in a file."""
    is_scripted: bool
    out: Console
    is_json: bool

    def assessed(self, transcript: Transcript) -> AssessmentInput:
        """Score a transcript, of which the interview asks what is unknown."""
        options = AssessmentOptions(parts=frozenset({Part.SCORES}))
        with working():
            assessment = self.runner.run(self.services.assessor.assess(transcript, options))
        risk = assessment.risk
        if risk.signals or risk.level is not RiskLevel.NONE:
            print_risk(self.out, risk, where=" in the transcript")
        if assessment.quantitative is None:
            say("error: the transcript was not scored, because a model failed")
            tell_causes(assessment.status, self.services.connections.reasons(assessment))
            raise typer.Exit(ExitCode.NOTHING_FINISHED)
        return assessment_input(assessment.quantitative.items)

    def hold(self, snapshot: InterviewSnapshot) -> ExitCode:
        """Ask until the interview is over, a step of it fails, or the person leaves.

        At the end the report is printed; where danger holds it, words for the person.
        """
        keep_days, was_over = self.services.settings.interview.keep_days, snapshot.state.is_over
        say(f"interview {snapshot.id}, kept for {keep_days} days")
        is_first = True
        try:
            while snapshot.question is not None and not snapshot.state.is_over:
                print_spoken(self.out, snapshot.notice)
                print_question(self.out, snapshot.question, with_hint=is_first)
                is_first = False
                snapshot = self._answered(snapshot, snapshot.question)
                self.out.print()
        except (_AnswersEnded, KeyboardInterrupt):
            # One that is left in the midst of a step waits for none; it goes on all the same.
            with suppress(RequestConflict):
                snapshot = self.runner.run(self.service.pause(snapshot.id))
            self._print_json(snapshot, None)
            say(f"left; {_GO_ON} {snapshot.id}")
            return ExitCode.PARTIAL if self.is_scripted else ExitCode.STOPPED
        if snapshot.state is InterviewState.FAILED:
            return self._failed(snapshot)
        return self._conclude(snapshot, was_held_now=not was_over)

    def _answered(self, snapshot: InterviewSnapshot, question: Question) -> InterviewSnapshot:
        for number, line in self.lines:
            if self.is_scripted or not sys.stdin.isatty():
                print_answer(self.out, line)
            try:
                answer = read_line(line, question, version=snapshot.version)
                is_long = answer.text is not None or snapshot.kind != ProtocolKind.ITEMS
                with working(is_long=is_long and self.service.has_model):
                    return self.runner.run(self.service.answer(snapshot.id, answer))
            except RequestConflict:
                raise
            except InputError as error:
                # Nobody is there to answer again in the place of a file.
                if self.is_scripted:
                    problem = f"--answers, line {number}: {error}"
                    raise InputError(problem, field="--answers") from None
                say(str(error))
        raise _AnswersEnded

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
        say(f"error: a model failed ({reason.value}); what was answered is kept")
        for model in self.services.interview_models[:1]:
            tell_doctor(model)
        say(f"stopped; {_GO_ON} {snapshot.id}")
        return ExitCode.NOTHING_FINISHED

    def _print_json(
        self, snapshot: InterviewSnapshot, report: InterviewReportResult | None
    ) -> None:
        if not self.is_json:
            return
        resources = self.services.crisis_resources
        document = {
            "interview": interview_result(snapshot, crisis_resources=resources).model_dump(
                mode="json"
            ),
            "report": None if report is None else report.model_dump(mode="json"),
        }
        # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
        typer.echo(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))
