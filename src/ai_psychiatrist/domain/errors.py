"""The tree of errors; branches exist only where callers react differently.

AssessmentServiceError
├── InputError               the caller's text or request is unusable
│   ├── TranscriptUnreadable
│   │   ├── TranscriptTooLong
│   │   └── SpeakersUnknown
│   ├── NotFound             nothing is stored under the id that was asked for
│   └── RequestConflict      not possible in the present state, or with this setup
├── OutputRejected           a model reply failed one stage; never leaves the agents
├── ModelCallFailed          a backend gave no reply; never leaves the agents
├── AgentFailed              an agent whose output is insisted on has none
├── ArtifactMismatch         a run, prompt, schema or stored record differs from its record
├── StoreUnusable            a store cannot be read or written, or takes no further record
└── ConfigurationError       settings contradict each other or name nothing

`problem_code` names the row of `domain.problems` that an error is answered with over HTTP; an error
without one is a defect there. Messages name settings and fields, never transcript, quote or reply
text.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final, Self

from ai_psychiatrist.domain.failures import FailureCode, RejectionCode
from ai_psychiatrist.domain.problems import problem_kinds


class AssessmentServiceError(Exception):
    """Every error this package raises on purpose."""

    problem_code: str = ""
    """Row of `domain.problems`, empty for an error that no caller can react to."""

    def __init__(self, message: str = "", *, problem_code: str = "") -> None:
        """`message`: for the operator. `problem_code`: where it is another than the class's."""
        if problem_code:
            self.problem_code = problem_code
            message = message or problem_kinds()[problem_code].sentence
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all attributes: the default would rebuild the error from its message alone."""
        return Exception.__new__, (type(self), *self.args), self.__dict__


class InputError(AssessmentServiceError):
    """The caller's text or request cannot be used; `field` names what to mend."""

    problem_code = "unusable_input"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


def require(holds: object, message: str, *, field: str) -> None:
    """Raise `InputError` with the message, about an option, an argument or a field, unless so."""
    if not holds:
        raise InputError(message, field=field)


class TranscriptUnreadable(InputError):
    """The transcript is empty, not text, or holds no words of a participant."""

    def __init__(
        self,
        message: str,
        *,
        field: str = "transcript_text",
        fault: str = "no_words",
        line: int | None = None,
    ) -> None:
        """`fault`: a value of `services.transcripts.utterances.FileFault`."""
        super().__init__(message, field=field)
        self.fault = fault
        self.line = line


class TranscriptTooLong(TranscriptUnreadable):
    """The transcript has more characters than the settings allow."""


MOST_LABELS_TOLD: Final = 20


class SpeakersUnknown(TranscriptUnreadable):
    """The transcript has labels, and none is identified as the participant's."""

    problem_code = "speakers_unknown"

    def __init__(self, reason: str, *, labels: Iterable[str] = (), field: str = "speakers") -> None:
        super().__init__(reason, field=field, fault="speakers_unknown")
        self.labels = tuple(islice(labels, MOST_LABELS_TOLD))
        """Those found, for whoever sent the transcript; they may be names, and are never logged."""


class _CodedInputError(InputError):
    """An input error with a code of its own; the table has its sentence and field."""

    def __init__(
        self, problem_code: str, message: str = "", *, field: str = "", known_id: str = "{id}"
    ) -> None:
        """`problem_code`: a row of `domain.problems`, whose words stand where none are given.

        `known_id`: what is stored, for the paths in those words.
        """
        kind = problem_kinds()[problem_code]
        sentence = kind.sentence.replace("{id}", known_id)
        super().__init__(message or sentence, field=field or kind.field)
        self.problem_code = problem_code


class NotFound(_CodedInputError):
    """Nothing of the caller's is stored under the id that was asked for."""


class RequestConflict(_CodedInputError):
    """The request is not possible in the present state, or as this service is set up."""


class OutputRejected(AssessmentServiceError):
    """A model reply failed one stage of validation.

    `feedback` is written for the model: what is wrong and what is wanted, never its words back.
    """

    def __init__(
        self, code: RejectionCode, feedback: str, violations: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(code.value)
        self.code = code
        self.feedback = feedback
        self.violations = dict(violations or {})
        """Field → what was expected there and which type came."""

    def detached(self) -> Self:
        """Return an equal one that holds no frames: theirs hold the reply and all read of it."""
        return type(self)(self.code, self.feedback, self.violations)


class ModelCallFailed(AssessmentServiceError):
    """A model backend gave no usable response to one call."""

    def __init__(
        self,
        code: FailureCode,
        *,
        http_status: int | None = None,
        retry_after_seconds: float | None = None,
        error_type: str | None = None,
        is_adjusted: bool = False,
    ) -> None:
        """`retry_after_seconds`: how long the backend asks to wait before the next call.

        `error_type`: the class of an exception that nobody foresaw, for the log. `is_adjusted`:
        the backend refused a parameter, without which the next call is sent.
        """
        super().__init__(code.value)
        self.code = code
        self.http_status = http_status
        self.retry_after_seconds = retry_after_seconds
        self.error_type = error_type
        self.is_adjusted = is_adjusted


class AgentFailed(AssessmentServiceError):
    """An agent whose output the caller insists on has none."""

    def __init__(self, agent: str, code: FailureCode) -> None:
        super().__init__(f"agent {agent!r} has no output: {code.value}")
        self.agent = agent
        self.code = code


class ConfigurationError(AssessmentServiceError):
    """Settings contradict each other, are misspelt, or name something that is not there."""


class ArtifactMismatch(AssessmentServiceError):
    """What is there differs from the record it was made with, or cannot be read back."""


class StoreUnusable(AssessmentServiceError):
    """A store cannot be read or written, for instance on a full disk, or takes no more records."""
