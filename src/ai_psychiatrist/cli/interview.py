"""The `interview` commands: hold an interview in a terminal, and look after those that are kept."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer
from pydantic import ValidationError
from rich.console import Console

from ai_psychiatrist.access.interview_links import link_address
from ai_psychiatrist.agents.interview.schemas import interview_schemas
from ai_psychiatrist.api.interview_requests import GivenAssessment
from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import (
    console_of,
    ending_on_stop,
    require,
    say,
    working,
)
from ai_psychiatrist.cli.files import ParticipantOption, given_transcript, speaker_roles
from ai_psychiatrist.cli.interview_session import Session, say_answered_before, typed_lines
from ai_psychiatrist.cli.settings import ModelOption, quiet, read_settings
from ai_psychiatrist.cli.stores import audited
from ai_psychiatrist.config import CRISIS_LINE_CURE, Settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import InputError, RequestConflict
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.infrastructure.options import web_address
from ai_psychiatrist.interview.protocol import BUILTIN_PROTOCOLS, load_protocol
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.store.interviews import id_hash
from ai_psychiatrist.wiring import Services, bootstrap

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

An answer is an option's letter, its wording, or your own words; stop ends the interview. With
--answers it is a line of a file.

Exit status: 0 nothing is left unknown, 1 items are unknown, the interview is held for safety, or
the answers of --answers ran out, 2 bad input or settings, 3 a model failed (continue with
--resume), 130 left by Ctrl-C or the end of the input (continue with --resume).
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
        typer.Option(
            "--from", metavar="FILE", help="Ask about the unknown items of this assessment."
        ),
    ] = None,
    transcript: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Assess this transcript first; then ask about its unknown items."
        ),
    ] = None,
    participant: ParticipantOption = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=TEXT", help="An input, or NAME=@FILE; repeatable."),
    ] = None,
    asks_all: Annotated[
        bool,
        typer.Option(
            "--ask-all",
            help="With --from: ask also what earlier interviews about the assessment answered.",
        ),
    ] = False,
    resume: Annotated[str | None, typer.Option(metavar="ID", help="Continue an interview.")] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take answers from a file, one a line.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the interview and its report as JSON.")
    ] = False,
    model: ModelOption = None,
) -> None:
    """Hold an interview; it can be left at any time and resumed."""
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
            resume is None or not (assessment or transcript or inputs or asks_all),
            "--resume continues an interview as it was begun: leave out the options that began it",
            field="--resume",
        )
        lines, is_scripted = typed_lines(), answers is not None
        if answers is not None:
            script = _read_text(answers, field="--answers").splitlines()
            numbered = enumerate(map(str.strip, script), start=1)
            lines = ((number, line) for number, line in numbered if line)
        settings, protocol_id = _with_protocol(settings, protocol)
        # Nothing of the dialogue in the JSON, and nothing anywhere where nobody reads it.
        is_quiet = as_json and not sys.stdin.isatty()
        with _opened(settings, asks=True) as (runner, services, service):
            session = Session(
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
                about: str | None = None
                if assessment is not None:
                    read = _read_assessment(assessment)
                    known, about = read.as_input(), read.assessment_id
                elif transcript is not None:
                    roles = speaker_roles(participant, None)
                    known = session.assessed(
                        given_transcript(str(transcript), settings, roles, field="--transcript")
                    )
                step = service.create(protocol_id, given, known, about=about, asks_all=asks_all)
            with working():
                snapshot = runner.run(step)
            if resume is None:
                say_answered_before(snapshot)
            code = session.hold(snapshot)
    raise typer.Exit(code)


@interview_app.command()
def schemas() -> None:
    """Print the schemas of the seven agents as they are sent to models."""
    typer.echo(json.dumps(interview_schemas(), indent=2))


@interview_app.command("list")
def list_interviews() -> None:
    """Print stored interviews: held ones first, then the latest.

    Each line has id, protocol, state, the time of the last change, danger, and the study id of the
    assessment that it is about.
    """
    with _opened(quiet(read_settings())) as (runner, _, service):
        kept = runner.run(service.list())
    for one in kept:
        state = one.state.value if one.is_readable else "unreadable"
        unread = f", {one.unread} not yet read" if one.unread else ""
        danger = f"{one.danger.value}{unread}" if one.danger else "-"
        moment = f"{one.protocol:<10}  {state:<12}  {one.updated_at}"
        typer.echo(f"{one.interview_id or ''}  {moment}  {danger}  {one.subject or ''}".rstrip())


InterviewArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="Of an interview, or an assessment's or study id with one.",
    ),
]


# An id may begin with a dash.
@interview_app.command(context_settings={"ignore_unknown_options": True})
def delete(given: InterviewArgument) -> None:
    """Delete an interview with all its data."""
    with _opened(quiet(read_settings())) as (runner, _, service):
        runner.run(service.delete(_meant(runner, service, given)))


@interview_app.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""
Examples:

  ai-psychiatrist interview reopen ID --reason "Called back; safe at home with family."

The person is welcomed back and asked the waiting question again. Who reopened it, when and
why stays in the interview and its report. The page on which the person was held goes on by itself.

Exit status: 0 it goes on, 2 there is no such interview, it is not held, or no reason is given.
""",
)
def reopen(
    given: InterviewArgument,
    *,
    reason: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="What you did, and why the interview can continue; stored."
        ),
    ],
) -> None:
    """Reopen an interview that is held because of a sign of danger."""
    with _opened(quiet(read_settings())) as (runner, services, service):
        interview_id = _meant(
            runner, service, given, lambda state: state is InterviewState.SAFETY_HOLD
        )
        runner.run(service.get(interview_id))
        with audited(services.stores, LOCAL.tenant, "interview_reopened", interview_id):
            going_on = service.reopen(interview_id, reason=reason, author=LOCAL.id)
            runner.run(going_on)
    say("It goes on: the person is asked the waiting question again.")


@interview_app.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""
Examples:

  ai-psychiatrist interview link ID

  ai-psychiatrist interview link ID --url https://interviews.example

  ai-psychiatrist interview link ID --revoke

The address is shown once, on standard output; whoever opens it first is taken for the person. A new
link takes the place of the one before.

Exit status: 0 made or revoked, 2 there is no such interview, or it is over.
""",
)
def link(
    given: InterviewArgument,
    *,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where the person reaches the server.  [API_PUBLIC_URL]"),
    ] = None,
    is_revoked: Annotated[
        bool, typer.Option("--revoke", help="Revoke the link, and end what was opened with it.")
    ] = False,
) -> None:
    """Create a link by which the person answers in a browser, or revoke it."""
    settings = quiet(read_settings())
    with _opened(settings) as (runner, services, service):
        interview_id = _meant(runner, service, given, lambda state: not state.is_over)
        found, links = runner.run(service.get(interview_id)), services.interview_links
        hashed = id_hash(interview_id)
        if is_revoked:
            with audited(services.stores, LOCAL.tenant, "interview_link_revoked", interview_id):
                links.revoke(hashed)
            return
        if found.state.is_over:
            raise RequestConflict("interview_over")
        server = settings.api.public_url or f"http://127.0.0.1:{settings.api.port}"
        address = server if url is None else _address(url)
        with audited(services.stores, LOCAL.tenant, "interview_link_made", interview_id):
            made = links.create(LOCAL.tenant, hashed, hours=settings.interview.link_hours)
    typer.echo(link_address(address, made.token))
    ends = datetime.fromtimestamp(made.link.expires_at, UTC)
    say(f"Copy the address now: it will not be shown again. It ends on {ends:%Y-%m-%d %H:%M} UTC.")


def _meant(
    runner: asyncio.Runner,
    service: InterviewService,
    given: str,
    fits: Callable[[InterviewState], bool] = lambda _: True,
) -> str:
    """Return the id of the one interview that is meant, of several the one whose state fits.

    Raises `InputError` that names all where more than one does.
    """
    found = [one for one in runner.run(service.meant_by(given)) if one.interview_id]
    meant = [one for one in found if fits(one.state)] or found
    if len(meant) > 1:
        listed = "; ".join(
            f"{one.interview_id} ({one.state.value}, begun {one.created_at[:16]})" for one in meant
        )
        msg = f"more than one interview is meant: name one by its id: {listed}"
        raise InputError(msg, field="ID")
    return meant[0].interview_id or given if meant else given


def _address(url: str) -> str:
    try:
        return web_address(url)
    except ValueError as error:
        raise InputError(f"--url: {error}", field="url") from None


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


def _read_assessment(path: Path) -> GivenAssessment:
    """Read what `assess --json` or the HTTP API gave; raises `InputError` for anything else."""
    text = _read_text(path, field="--from")
    try:
        return GivenAssessment.model_validate_json(text)
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
