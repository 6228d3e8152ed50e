"""Structured logs that cannot carry text of patients or models.

Only keys of an allow-list are written, and only values that are numbers, flags or short names.
Anything else is dropped and counted, so a careless call costs a field, never a leak. The lines of
a request and of an assessment carry its id, and the failures of an assessment are logged and
collected in one call.
"""

import logging
import re
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from enum import Enum
from typing import Final, Literal, TypeAlias

import structlog
from structlog.contextvars import bind_contextvars, bound_contextvars, get_contextvars
from structlog.typing import EventDict, Processor, ProcessorReturnValue, WrappedLogger

from ai_psychiatrist.domain.failures import (
    FailureCategory,
    FailureCode,
    FailureRecord,
    FailureSeverity,
)
from ai_psychiatrist.infrastructure.runtime import current_runtime, using_runtime

LogFormat: TypeAlias = Literal["console", "json"]
LogLevel: TypeAlias = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

ALLOWED_KEYS: Final = frozenset(
    "agent assessment_id backend category code coercions count domain duration_ms error_type event "
    "extracted_count failures http_status input_tokens interview_hash key_id level library_logger "
    "line lost_count method mode model model_calls name outcome output_tokens part participant_id "
    "path prompt_digest protocol quote_hash quote_len reason rejected_by_domain rejected_count "
    "repaired reply_characters request_id response_hash response_len route severity stage status "
    "timestamp transcript_hash transcript_len turn url validated_count validation_mode violations "
    "turns_not_examined unread_count trace_id span_id dropped_keys".split()
)
_MAX_VALUE_CHARACTERS: Final = 160
_LEVELS: Final = logging.getLevelNamesMapping()
_EVENT: Final = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")


class EventLog:
    """Where the events of one application go: from which level on, and in which form.

    It is a processor of structlog, whose own configuration belongs to the process.
    """

    def __init__(
        self,
        level: LogLevel = "INFO",
        log_format: LogFormat = "console",
        *,
        trace_ids: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """`trace_ids`: of the span that is open, which join a line to it."""
        self._least = _LEVELS[level]
        self._trace_ids = trace_ids
        self._render = _renderer(log_format)

    def __call__(
        self, logger: WrappedLogger, method: str, event_dict: EventDict
    ) -> ProcessorReturnValue:
        """Return an event as the line that is written; raises `DropEvent` below the level."""
        if _LEVELS[method.upper()] < self._least:
            raise structlog.DropEvent
        event_dict.update(self._trace_ids())
        for process in _PROCESSORS:
            event_dict = process(logger, method, event_dict)
        return self._render(logger, method, event_dict)


def logging_to(log: Processor) -> AbstractContextManager[None]:
    """Let the events of the block, and of the tasks that it starts, go to this log."""
    return using_runtime(replace(current_runtime(), log=log))


def get_logger(name: str) -> structlog.stdlib.BoundLogger:  # noqa: ARG001  as specified
    """Return a logger; `name` is the module's."""
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        _StandardError(),
        processors=[_to_current_log],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        context_class=dict,
        cache_logger_on_first_use=True,
    )
    return logger


def setup_logging(level: LogLevel = "INFO", log_format: LogFormat = "console") -> None:
    """Log for a process that is this program's own, and silence the texts of other libraries.

    Their log lines can quote requests and replies, so of each only its logger's name is written.
    Applications inside the process keep the logs of their own settings.
    """
    _OfProcess.log = EventLog(level, log_format)
    root = logging.getLogger()
    root.handlers = [_NameOnlyHandler(level=logging.WARNING)]
    root.setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)


def only_allowed_keys(_: WrappedLogger, __: str, event_dict: EventDict) -> EventDict:
    """Drop every key that is not allowed and every value that could be text; count the dropped."""
    kept = {
        key: plain
        for key, value in event_dict.items()
        if key in ALLOWED_KEYS and (plain := _plain(value)) is not None
    }
    if not _EVENT.match(str(kept.get("event", ""))):
        kept["event"] = "unnamed_event"
    dropped = sum(1 for key, value in event_dict.items() if key not in kept and value is not None)
    if dropped:
        kept["dropped_keys"] = dropped
    return kept


_PROCESSORS: Final[tuple[Callable[[WrappedLogger, str, EventDict], EventDict], ...]] = (
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    only_allowed_keys,
)


def _to_current_log(
    logger: WrappedLogger, method: str, event_dict: EventDict
) -> ProcessorReturnValue:
    return (current_runtime().log or _OfProcess.log)(logger, method, event_dict)


class _StandardError:
    """Writes lines to standard error as it is now."""

    def info(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    debug = warning = error = critical = info


def _plain(value: object) -> object:
    """Return a value that is safe to write, or `None`."""
    match value:
        case Enum():
            return value.value
        case bool() | int() | float():
            return value
        case str() if len(value) <= _MAX_VALUE_CHARACTERS and "\n" not in value:
            return value
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case _:
            return None


def _renderer(log_format: LogFormat) -> Processor:
    if log_format == "json":
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )


class _OfProcess:
    """The log of what belongs to no application."""

    log: Processor = EventLog("WARNING")


class _NameOnlyHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _logger.warning("library_log", library_logger=record.name)


@contextmanager
def identified_request() -> Iterator[str]:
    """Yield a new request id; log lines inside the block and its tasks carry it."""
    request_id = str(uuid.uuid4())
    # Binding the other id too makes the end of the block forget whatever the request bound to it.
    with bound_contextvars(request_id=request_id, assessment_id=None):
        yield request_id


def begin_assessment() -> str:
    """Return a new assessment id; log lines of this task carry it from now on."""
    assessment_id = str(uuid.uuid4())
    bind_contextvars(assessment_id=assessment_id)
    return assessment_id


@contextmanager
def identified_assessment() -> Iterator[str]:
    """Yield the assessment id that this task has, or a new one.

    Log lines inside the block and its tasks carry it.
    """
    bound: object = get_contextvars().get("assessment_id")
    assessment_id = bound if isinstance(bound, str) else str(uuid.uuid4())
    with bound_contextvars(assessment_id=assessment_id):
        yield assessment_id


_logger = get_logger(__name__)


def numbered_part(number: int) -> AbstractContextManager[None]:
    """Let log lines and failures of the block carry the number of a part of a long interview."""
    return bound_contextvars(part=number)


@contextmanager
def collect_failures() -> Iterator[list[FailureRecord]]:
    """Yield the list that gathers the failures recorded inside the block and its tasks."""
    failures: list[FailureRecord] = []
    with using_runtime(replace(current_runtime(), failures=failures)):
        yield failures


def record_failure(
    category: FailureCategory,
    severity: FailureSeverity,
    message: str,
    *,
    stage: str,
    code: FailureCode | None = None,
    participant_id: int | None = None,
    **context: str | int,
) -> None:
    """Log a failure and add it to the assessment it belongs to.

    `message` is a fixed sentence and `context` holds counts and mode names: no text of participant
    or model. Of a part of a long interview it also holds the number.
    """
    part = get_contextvars().get("part")
    if isinstance(part, int):
        context["part"] = part
    record = FailureRecord(
        category=category,
        severity=severity,
        message=message,
        stage=stage,
        code=code,
        context=context,
    )
    collected = current_runtime().failures
    if collected is not None:
        collected.append(record)
    _logger.warning(
        "failure_recorded",
        category=category,
        severity=severity,
        stage=stage,
        code=code,
        participant_id=participant_id,
        **context,
    )
