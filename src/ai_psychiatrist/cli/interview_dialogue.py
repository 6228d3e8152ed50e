"""Hold an interview: ask, take the answer, ask again, until no question is left."""

import asyncio
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from rich.console import Console

from ai_psychiatrist.cli.interview_answers import AnswersEnded, AnswerSource, read_line
from ai_psychiatrist.cli.interview_view import (
    print_answer,
    print_hint,
    print_question,
    print_spoken,
    working,
)
from ai_psychiatrist.domain.errors import InputError, RequestConflict
from ai_psychiatrist.domain.interview import Question
from ai_psychiatrist.interview.protocol import ProtocolKind
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How a session of an interview ended."""

    snapshot: InterviewSnapshot
    is_left: bool = False
    """Whether the person left before the interview was over."""


class Dialogue:
    """Asks on a console and takes answers from a source."""

    def __init__(
        self,
        service: InterviewService,
        runner: asyncio.Runner,
        answers: AnswerSource,
        out: Console,
    ) -> None:
        self._service = service
        self._runner = runner
        self._answers = answers
        self._out = out

    def hold(self, snapshot: InterviewSnapshot) -> Held:
        """Ask until the interview is over, a step of it fails, or the person leaves."""
        is_first = True
        try:
            while snapshot.question is not None and not snapshot.state.is_over:
                print_spoken(self._out, snapshot.notice)
                print_question(self._out, snapshot.question)
                if is_first:
                    print_hint(self._out, snapshot.question)
                is_first = False
                snapshot = self._answered(snapshot, snapshot.question)
                self._out.print()
        except (AnswersEnded, KeyboardInterrupt):
            return Held(snapshot=self._set_aside(snapshot), is_left=True)
        return Held(snapshot=snapshot)

    def _set_aside(self, snapshot: InterviewSnapshot) -> InterviewSnapshot:
        try:
            return self._wait_for(self._service.pause(snapshot.id))
        except RequestConflict:
            # It was left in the midst of a step and waits for none; it goes on all the same.
            return snapshot

    def _answered(self, snapshot: InterviewSnapshot, question: Question) -> InterviewSnapshot:
        while True:
            try:
                line = self._answers.next_line()
                if self._answers.is_unseen:
                    print_answer(self._out, line)
                answer = read_line(line, question)
                submission = AnswerSubmission(
                    question_id=question.id,
                    idempotency_key=str(uuid.uuid4()),
                    version=snapshot.version,
                    option_id=answer.option_id,
                    text=answer.text,
                    is_stop=answer.is_stop,
                )
                is_typed = answer.text is not None
                is_long = is_typed or snapshot.kind != ProtocolKind.ITEMS
                with working(is_long=is_long and self._service.has_model):
                    return self._wait_for(self._service.answer(snapshot.id, submission))
            except RequestConflict:
                raise
            except InputError as error:
                self._answers.refuse(str(error))

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)
