"""One line as a unit: whose it is, what was answered, and what came with it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import FailureStage, RejectionCode
from ai_psychiatrist.validation.checks.host_fields import (
    METADATA,
    RAW_TEXT,
    RETRY_COUNT,
    UNIT_ID,
    host_names_of_line,
)
from ai_psychiatrist.validation.checks.step_validator import unread_answer
from ai_psychiatrist.validation.checks.verdict import Verdict, refusal
from ai_psychiatrist.validation.jsonl.lines import Line
from ai_psychiatrist.validation.reply.json_decoder import ParsedObject, decode_loosely
from ai_psychiatrist.validation.reply.limits import ParseLimits, rejected
from ai_psychiatrist.validation.reply.parse import parse_line, parse_object

UnitId: TypeAlias = str | int

ERROR: Final = "error"
MOST_PROVIDER_CHARACTERS: Final = 500

_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,40}\Z")
_CODE_FIELDS: Final = ("status", "status_code", "code", "type")


UNCHECKED: Final = Verdict(value=None)


@dataclass(slots=True, kw_only=True)
class Unit:
    """What a line says, before any check of its answer, and what was known before it."""

    number: int | None
    """The line's number, from 1; `None` when there is no line."""
    unit_id: UnitId | None
    """As it is written; `None` when the line names no unit."""
    content: bytes | None = field(repr=False)
    """The line; `None` when it was too long to keep."""
    answer: dict[str, object] | None = field(default=None, repr=False)
    """The answer, when the line holds it as an object."""
    text: str | None = field(default=None, repr=False)
    """The model's own words, when the line holds them."""
    host: Mapping[str, object] = field(default_factory=dict, repr=False)
    """The fields that its host put on the line beside the id."""
    retry_count: int = 0
    written: bytes | None = field(default=None, repr=False)
    """The line as a valid unit is written, for as long as its answer is not changed."""
    is_repaired: bool = False
    is_object: bool = True
    """Whether the line is one JSON object, whatever becomes of it."""
    verdict: Verdict = UNCHECKED
    """Why there is no answer to check, or why it is not checked; then what became of it."""
    context: Mapping[str, object] | None = field(default=None, repr=False)
    """What rules know beside the answer; `None` when that is nothing, or nobody asked."""
    given: Mapping[str, object] | None = field(default=None, repr=False)
    """Of that what the context file gives."""

    @property
    def key(self) -> str | None:
        """The id as text, under which units are matched: 7 and "7" are one unit."""
        return None if self.unit_id is None else str(self.unit_id)

    @property
    def raw_response(self) -> str | None:
        """The model's own words where they are known, else the line."""
        if self.text is not None or self.content is None:
            return self.text
        return self.content.decode("utf-8", "backslashreplace")


OnUnit: TypeAlias = Callable[[Unit], None]
"""Takes every line that is not blank and every unit that was not answered, in order."""


def read_unit(
    line: Line, *, limits: ParseLimits, answers_with: frozenset[str], needs_id: bool = True
) -> Unit:
    """Return the unit of a line that is not blank.

    `answers_with`: fields that the step's schema knows, so that a field called `error` can be part
    of an answer.
    """
    if line.content is None:
        refused = _TOO_LONG if line.is_writable else _NO_JSON_VALUE
        return Unit(
            number=line.number, unit_id=None, content=None, is_object=False, verdict=refused
        )
    try:
        parsed = _parsed(line, line.content, limits)
    except OutputRejected as rejection:
        return _refused(line.number, line.content, rejection, limits)
    return _unit(line, parsed, answers_with, needs_id=needs_id)


def _parsed(line: Line, content: bytes, limits: ParseLimits) -> ParsedObject:
    """Return the object that a line is, or that a reply gives among words or in a fence."""
    try:
        return parse_line(content, limits)
    except OutputRejected as rejection:
        if not line.is_reply or rejection.code not in _NOT_A_LINE:
            raise
    if content.count(_ID_KEY) > 1:
        # Of several objects the last one would count, and a unit would be dropped.
        raise rejected(RejectionCode.SEVERAL_ANSWERS)
    return parse_object(content.decode("utf-8"), limits)


def _unit(
    line: Line, parsed: ParsedObject, answers_with: frozenset[str], *, needs_id: bool
) -> Unit:
    value, written = parsed.value, parsed.written
    unit_id, has_id = unit_id_of(value), UNIT_ID in value
    if has_id and next(iter(value)) != UNIT_ID:
        written = None
    value.pop(UNIT_ID, None)
    host = {name: value.pop(name) for name in host_names_of_line(value, answers_with)}
    text, metadata = host.get(RAW_TEXT), host.get(METADATA)
    refused = UNCHECKED
    if unit_id is None and (needs_id or has_id):
        refused = _NO_UNIT_ID
    elif text is not None and not isinstance(text, str):
        refused = _RAW_TEXT_IS_NO_TEXT
    elif _is_cut_off(metadata):
        refused = _CUT_OFF
    elif _is_provider_error(value, answers_with):
        refused = _provider_failure(value[ERROR])
    has_answer = text is None or not value.keys() <= {RETRY_COUNT}
    return Unit(
        number=line.number,
        unit_id=unit_id,
        content=line.content,
        answer=value if has_answer and refused is UNCHECKED else None,
        text=text if isinstance(text, str) else None,
        host=host,
        retry_count=_retry_count(value, host, metadata),
        written=None if host else written,
        is_repaired=parsed.repaired,
        verdict=refused,
    )


def _refused(number: int, content: bytes, rejection: OutputRejected, limits: ParseLimits) -> Unit:
    """Return a unit without an answer, under its id where that is beyond doubt."""
    text = content.decode("utf-8", "replace")
    verdict = unread_answer(text, rejection, limits)
    value = verdict.value or decode_loosely(content)
    is_certain = content.count(_ID_KEY) == 1
    return Unit(
        number=number,
        unit_id=(unit_id_of(value) if value else _written_id(content)) if is_certain else None,
        content=content,
        is_object=bool(verdict.value),
        retry_count=_retry_count(value, value.get(METADATA)),
        verdict=verdict,
    )


_NOT_A_LINE: Final = {RejectionCode.NO_JSON, RejectionCode.NOT_AN_OBJECT}
_ID_KEY: Final = f'"{UNIT_ID}"'.encode()
_WRITTEN_ID: Final = re.compile(
    rb'\s*(?:\[\s*)?\{(?:[^{}\[\]]*,)?\s*"unit_id"\s*:\s*'
    rb'("(?:[^"\\\x00-\x1f]|\\.)*+"|-?\d{1,18})\s*[,}]'
)


def _written_id(content: bytes) -> UnitId | None:
    """Return the id that stands in the first object of a line that cannot be read."""
    found = _WRITTEN_ID.match(content)
    return None if found is None else unit_id_of(decode_loosely(b'{"unit_id":%b}' % found[1]))


def unit_id_of(value: Mapping[str, object]) -> UnitId | None:
    """Return the id that an object names, `None` when it is neither text nor a whole number."""
    unit_id = value.get(UNIT_ID)
    if isinstance(unit_id, bool) or not isinstance(unit_id, str | int) or unit_id == "":
        return None
    return unit_id


def _retry_count(*sources: object) -> int:
    """Return how often the unit was tried before, as the first source that tells it says."""
    for source in sources:
        if isinstance(source, Mapping):
            count = source.get(RETRY_COUNT)
            if type(count) is int and count >= 0:
                return count
    return 0


def _is_provider_error(value: Mapping[str, object], answers_with: frozenset[str]) -> bool:
    return (
        value.get(ERROR) is not None
        and value.keys() <= {ERROR, RETRY_COUNT}
        and ERROR not in answers_with
    )


def _provider_failure(cause: object) -> Verdict:
    """Keep the cause: its code in the rule's name, its words in the message."""
    code = _provider_code(cause)
    words = cause.get("message") if isinstance(cause, Mapping) else cause
    message = words[:MOST_PROVIDER_CHARACTERS] if isinstance(words, str) else "the call failed"
    rule = "provider_error" if code is None else f"provider_{code}"
    return refusal(FailureStage.PROVIDER, rule, message, ERROR)


def _provider_code(cause: object) -> str | None:
    if not isinstance(cause, Mapping):
        return None
    codes = (str(cause[name]) for name in _CODE_FIELDS if isinstance(cause.get(name), str | int))
    return next(filter(_CODE.match, codes), None)


def _is_cut_off(metadata: object) -> bool:
    """Return whether the provider says that the model was stopped before it had ended."""
    return isinstance(metadata, Mapping) and any(
        str(metadata.get(name)).lower() in _STOPPED_BY_LENGTH for name in _WHY_IT_STOPPED
    )


_WHY_IT_STOPPED: Final = ("finish_reason", "stop_reason", "done_reason", "finishReason")
_STOPPED_BY_LENGTH: Final = frozenset({"length", "max_tokens", "max_output_tokens"})
_CUT_OFF: Final = refusal(
    FailureStage.PARSE,
    f"parse_{RejectionCode.TRUNCATED}",
    "the provider says that the answer was cut off by length",
)
_NO_UNIT_ID: Final = refusal(
    FailureStage.PARSE, "unit_id", "the line names no unit: a text or whole number", UNIT_ID
)
_TOO_LONG: Final = refusal(
    FailureStage.PARSE, "line_too_long", "the line is longer than is read; it was passed over"
)
_NO_JSON_VALUE: Final = refusal(
    FailureStage.PARSE, "no_json_value", "the object holds what cannot be written as JSON"
)
_RAW_TEXT_IS_NO_TEXT: Final = refusal(
    FailureStage.PARSE, "raw_text", "the model's raw text is no text", RAW_TEXT
)
