"""What a step of an interview is taken with, and how much it may cost."""

from dataclasses import dataclass, field, replace
from typing import Self

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.danger import DangerReader
from ai_psychiatrist.interview.protocol.records import InterviewProtocol
from ai_psychiatrist.interview.record import Reopening
from ai_psychiatrist.interview.submission import AnswerSubmission
from ai_psychiatrist.llm.calls import CallRecorder


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewLimits:
    """Bounds of one interview."""

    max_calls: int = 200
    """Model calls of one interview, its report included."""
    turn_timeout_seconds: float = 60.0
    max_answer_characters: int = 4_000
    speculates: bool = True
    """Whether the next question is asked for while an offered answer is worked in."""
    join_seconds: float = 0.0
    """How long after a message that may go on further ones are waited for, to join them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """The interview's protocol, who may be asked, and what was sent."""

    protocol: InterviewProtocol
    agents: InterviewAgentsPort | None
    """`None` where there is no model."""
    danger: DangerReader | None
    """Reads free answers for danger beside the rules; `None` leaves them to the rules."""
    limits: InterviewLimits
    submission: AnswerSubmission | None = None
    """The answer, or the wish to stop, that the event brings."""
    reopening: Reopening | None = None
    """Who lets a held interview go on, and why."""
    logs: list[CallRecorder] = field(default_factory=list, repr=False)
    """Of all calls that were made, for a step that is cut short."""

    @property
    def required_agents(self) -> InterviewAgentsPort:
        """The agents; raises `RequestConflict` where there is no model."""
        if self.agents is None:
            raise RequestConflict(
                "not_available",
                f"the protocol {self.protocol.id!r} needs a model: set INTERVIEW_MODEL or "
                "MODEL_DEFAULT",
                field="protocol",
            )
        return self.agents

    def required_submission(self, version: int) -> AnswerSubmission:
        """Return what was sent; raises `RequestConflict` unless it is for this version."""
        if self.submission is None or self.submission.version != version:
            raise RequestConflict("version_conflict")
        return self.submission

    def calls(self, most: int) -> CallRecorder:
        """Return a log for so many calls."""
        self.logs.append(CallRecorder.of(most))
        return self.logs[-1]

    def keeping_back(self, calls: int) -> Self:
        """Return a context in which so many calls fewer may be made."""
        limits = replace(self.limits, max_calls=self.limits.max_calls - calls)
        return replace(self, limits=limits)
