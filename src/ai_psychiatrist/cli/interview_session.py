"""An interview in a terminal, between its first question and its end: what is typed, and said."""

import asyncio
import json
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

import typer
from rich.console import Console

from ai_psychiatrist.api.interview_models import (
    InterviewReportResult,
    interview_report,
    interview_result,
)
from ai_psychiatrist.api.interview_requests import assessment_input
from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.cli.console import (
    ExitCode,
    require,
    say,
    working,
)
from ai_psychiatrist.cli.interview_view import (
    print_answer,
    print_interview_report,
    print_question,
    print_spoken,
)
from ai_psychiatrist.cli.report import print_risk, tell_causes, tell_doctor
from ai_psychiatrist.domain.errors import AgentFailed, InputError, RequestConflict
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import InterviewState, Question
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.interview.protocol import ProtocolKind
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.interview.submission import worded_option
from ai_psychiatrist.wiring import Services

STOP: Final = "stop"
_PROMPT: Final = "> "
_GO_ON: Final = "continue with: ai-psychiatrist interview --resume"
_NOT_TEXT: Final = "the answer is not UTF-8 text"


class _AnswersEnded(Exception):
    """No further answer comes; the interview waits for the next one."""


def typed_lines() -> Iterator[tuple[int, str]]:
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
    """Return what a line answers: `stop`, an option's letter, its wording, or free text.

    Digits are days, never the number of an option.

    `version`: of the interview that asks. Raises `InputError` for what is none of them.
    """
    key, said = str(uuid.uuid4()), line.strip()
    answer = partial(
        AnswerSubmission, question_id=question.id, idempotency_key=key, version=version
    )
    if said.casefold() == STOP:
        return answer(is_stop=True)
    letters = question.letters
    in_words = ", or say it in words, such as `4 days`" if question.allows_free_text else ""
    choose = f"choose a letter: {', '.join(question.lettered)}{in_words}"
    meant = letters.get(said.casefold()) or worded_option(question, said)
    if meant is not None:
        return answer(option_id=meant.id)
    is_letter = len(said) == 1 and said.isalpha()
    require(question.allows_free_text and not is_letter, choose, field="answer")
    # A terminal's wrong bytes become lone surrogates.
    is_text = not any("\ud800" <= character <= "\udfff" for character in said)
    require(is_text, _NOT_TEXT, field="answer")
    return answer(text=said)


def say_answered_before(snapshot: InterviewSnapshot) -> None:
    """Say which items are not asked about, since an earlier interview has answered them."""
    before = snapshot.assessment.answered_before if snapshot.assessment else ()
    if before:
        listed = ", ".join(item.label for item in before)
        say(f"answered in an earlier interview: {listed}; to ask about them too, add --ask-all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
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
        keep_days, was_over = self.services.settings.interview.keep_days, snapshot.is_over
        say(f"interview {snapshot.id}, kept for {keep_days} days")
        is_first = True
        try:
            while snapshot.question is not None:
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
        result = interview_report(report)
        print_spoken(self.out, snapshot.spoken)
        # The person who was just held reads along: the account waits for whoever resumes it.
        if result.danger is None or not was_held_now:
            print_interview_report(self.out, result)
        self._print_json(snapshot, result)
        is_held = report.state is InterviewState.SAFETY_HOLD
        is_whole = not is_held and not (result.total and result.total.na_count)
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
        document = {
            "interview": interview_result(snapshot).model_dump(mode="json"),
            "report": None if report is None else report.model_dump(mode="json"),
        }
        # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
        typer.echo(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))
