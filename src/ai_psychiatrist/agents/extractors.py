"""Turn a reply's text into an agent's output, or ask the model again.

Each extractor raises `ReplyRejected`, a `ModelRetry`, with feedback for the model that says what is
wrong and what is wanted and never repeats the reply.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import Final, TypeVar

from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    ItemScoreOutput,
    JudgeMetricOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
    words_of,
)
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.services.evidence_validation import (
    EvidenceSchemaError,
    validate_evidence_schema,
)
from ai_psychiatrist.validation.checks.coercion.text_values import WholeNumber, read_whole_number
from ai_psychiatrist.validation.reply.json_decoder import Parsed, ParsedObject
from ai_psychiatrist.validation.reply.limits import refuse_broken_text
from ai_psychiatrist.validation.reply.parse import (
    as_object,
    parse_object,
    parse_value,
    parse_whole,
)
from ai_psychiatrist.validation.reply.tags import has_unclosed_tag, tagged_block
from ai_psychiatrist.validation.reply.thinking import without_thinking

logger = get_logger(__name__)

MAX_QUOTES: Final = 100
"""Most quotes in one list of a reply."""

R = TypeVar("R")


def asking_again(extract: Callable[[str], R]) -> Callable[[str], R]:
    """Translate rejections into Pydantic AI's retry; the only place that does."""

    @wraps(extract)
    def extractor(text: str) -> R:
        try:
            refuse_broken_text(text)
            return extract(text)
        except OutputRejected as rejection:
            refused = rejection
        except (ValueError, RecursionError):
            # Such as a check of the output model that the extractor did not foresee.
            refused = OutputRejected(
                RejectionCode.WRONG_TYPE,
                "The reply does not have the form that the task shows. Keep to that form.",
            )
        # With the first rejection: a reply that is accepted needs no library to be read.
        from ai_psychiatrist.llm.asking_again import asked_again  # noqa: PLC0415

        rejected = ReplyRejected(refused.code, refused.feedback, refused.violations)
        # The cause would carry the reply into tracebacks.
        raise asked_again(rejected) from None

    return extractor


_SECTIONS: Final = {
    "assessment": "assessment",
    "PHQ8_symptoms": "phq8_symptoms",
    "social_factors": "social_factors",
    "biological_factors": "biological_factors",
    "risk_factors": "risk_factors",
}
_SECTION_TAG: Final = re.compile(rf"<(/?)({'|'.join(_SECTIONS)})>", re.IGNORECASE)
_BULLET: Final = re.compile(r"(?:[-*•–—]|\d{1,3}[.)])\s+")
_QUOTE_MARKS: Final = '"“”„«»'


@asking_again
def extract_qualitative(text: str) -> QualitativeOutput:
    """Read the tagged narrative; each tag has to be there and hold words."""
    reply = without_thinking(text)
    blocks = _last_blocks(reply)
    fields = {field: _required(reply, tag, blocks.get(tag)) for tag, field in _SECTIONS.items()}
    quotes = tagged_block(reply, "exact_quotes")
    if has_unclosed_tag(reply, "exact_quotes"):
        raise _cut_off("exact_quotes")
    return QualitativeOutput(exact_quotes=tuple(_bulleted(quotes or "")), **fields)


def _last_blocks(reply: str) -> dict[str, str]:
    """Return the sections of the last narrative: one that is written anew begins another."""
    names = {tag.lower(): tag for tag in _SECTIONS}
    blocks: dict[str, str] = {}
    opened: tuple[str, int] | None = None
    for mark in _SECTION_TAG.finditer(reply):
        name = names[mark[2].lower()]
        if not mark[1]:
            opened = (name, mark.end())
        elif opened is not None and opened[0] == name:
            blocks = {} if name in blocks else blocks
            blocks[name] = words_of(reply[opened[1] : mark.start()])
            opened = None
    return blocks


def _required_block(reply: str, tag: str) -> str:
    return _required(reply, tag, tagged_block(reply, tag))


def _required(reply: str, tag: str, block: str | None) -> str:
    if has_unclosed_tag(reply, tag):
        raise _cut_off(tag)
    if block is None:
        raise OutputRejected(
            RejectionCode.MISSING_TAG,
            f"The tag <{tag}>…</{tag}> is missing. Reply with all the tags of the task.",
        )
    if not _A_WORD.search(block):
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD,
            f"The tag <{tag}> is empty. Write its content, or: not assessed in interview.",
        )
    return block


_A_WORD: Final = re.compile(r"\w")
"""What a placeholder such as … lacks."""


def _cut_off(tag: str) -> OutputRejected:
    return OutputRejected(
        RejectionCode.TRUNCATED,
        f"The reply ends inside <{tag}>. Reply with all the tags of the task, briefer.",
    )


def _bulleted(block: str) -> list[str]:
    lines = (_BULLET.sub("", words_of(line), count=1).strip() for line in block.splitlines())
    quotes = (words_of(line.strip(_QUOTE_MARKS)) for line in lines)
    spoken = [quote for quote in quotes if quote and not _is_placeholder(quote)]
    refuse_too_many(spoken, "<exact_quotes>")
    return list(dict.fromkeys(spoken))


def refuse_too_many(quotes: Sequence[object], place: str) -> None:
    """Refuse lists that nobody reads: checking each quote takes time, and none may be dropped."""
    if len(quotes) > MAX_QUOTES:
        raise OutputRejected(
            RejectionCode.TOO_MANY_QUOTES,
            f"{place} lists far too many quotes. Give the most telling ones.",
        )


def _is_placeholder(quote: str) -> bool:
    return quote.casefold().rstrip(".") in {"not assessed in interview", "none", "n/a", "-"}


@asking_again
def extract_evidence(text: str) -> EvidenceOutput:
    """Read the quotes per item; a value that is not a list of texts is refused, never coerced."""
    parsed = parse_value(text)
    value = _unwrapped(parsed.value)
    named = _by_item(value) if isinstance(value, dict) else _NamedItems()
    try:
        quotes = validate_evidence_schema(named.values if isinstance(value, dict) else value)
    except EvidenceSchemaError as error:
        logger.error(
            "evidence_schema_validation_failed",
            violations=error.violations,
            response_hash=keyed_digest(text),
            response_len=len(text),
        )
        places = "; ".join(f"{key}: {what}" for key, what in error.violations.items())
        raise OutputRejected(
            RejectionCode.WRONG_TYPE,
            f"Each item key needs a list of strings. Wrong: {places}.",
            error.violations,
        ) from None
    if not any(quotes.values()) and _ECHO.search(without_thinking(text)):
        raise OutputRejected(
            RejectionCode.NO_JSON, "The reply repeats the task. Reply with the quotes themselves."
        )
    for key, listed in quotes.items():
        refuse_too_many(listed, key)
    if named.unknown_keys and not named.values:
        raise OutputRejected(
            RejectionCode.MISSING_ITEM,
            f"No key names an item. Use these keys: {', '.join(PHQ8_DOMAIN_KEYS)}.",
        )
    return EvidenceOutput(
        quotes=quotes,
        unknown_keys=named.unknown_keys,
        repaired=parsed.repaired,
        coercions=named.renamed + (value is not parsed.value),
    )


_ECHO: Final = re.compile(r"Reply with one JSON object and nothing else")


@dataclass(frozen=True, slots=True, kw_only=True)
class _NamedItems:
    """What a reply says of each item that it names."""

    values: dict[str, object] = field(default_factory=dict)
    unknown_keys: int = 0
    renamed: int = 0
    """How many keys were written in another way than the task has them."""


def _by_item(value: dict[str, object]) -> _NamedItems:
    """Find the items by their keys, whatever the case, spaces and hyphens in them."""
    items: dict[str, object] = {}
    renamed = 0
    for key, said in value.items():
        item = _ITEM_OF_NAME.get(_NO_LETTER.sub("", key).lower())
        if item is None:
            continue
        if item in items:
            raise OutputRejected(
                RejectionCode.DUPLICATE_KEY, f"{item} is given twice. Give each item once."
            )
        items[item] = said
        renamed += key != item
    return _NamedItems(values=items, unknown_keys=len(value) - len(items), renamed=renamed)


def _unwrapped(value: object) -> object:
    """Return the object of all eight items that a value wraps, else the value as it is."""
    match value:
        case [only]:
            inner = only
        case dict():
            held = {key: said for key, said in value.items() if isinstance(said, dict | list | str)}
            holders = [key for key in held if key.casefold() in _WRAPPERS]
            if len(holders) != 1 or any(
                isinstance(said, dict | list) for key, said in held.items() if key not in holders
            ):
                return value
            inner = held[holders[0]]
        case _:
            return value
    if isinstance(inner, str):
        with suppress(OutputRejected):
            inner = parse_whole(inner.strip()).value
    is_whole = isinstance(inner, dict) and set(_by_item(inner).values) == set(PHQ8_DOMAIN_KEYS)
    return inner if is_whole else value


_WRAPPERS: Final = frozenset(
    {"answer", "final_answer", "result", "results", "data", "output", "response", "json"}
    | {"evidence", "quotes", "scores", "items", "assessment", "phq8", "phq-8"}
)

_NO_LETTER: Final = re.compile(r"[\W_]")
_ITEM_OF_NAME: Final = {_NO_LETTER.sub("", key).lower(): key for key in PHQ8_DOMAIN_KEYS}


@asking_again
def extract_quantitative(text: str) -> QuantitativeOutput:
    """Read the proposed score of each of the eight items."""
    parsed = parse_value(text)
    value = _unwrapped(parsed.value)
    named = _by_item(as_object(Parsed(value=value, repaired=parsed.repaired)).value)
    missing = [key for key in PHQ8_DOMAIN_KEYS if not isinstance(named.values.get(key), dict)]
    if missing:
        raise OutputRejected(
            RejectionCode.MISSING_ITEM,
            f"Each of the eight items needs an object. Missing or wrong: {', '.join(missing)}.",
        )
    readings = [_ItemReading(key, named.values[key]) for key in PHQ8_DOMAIN_KEYS]
    return QuantitativeOutput(
        items={reading.key: reading.output() for reading in readings},
        repaired=parsed.repaired,
        coercions=named.renamed
        + (value is not parsed.value)
        + sum(reading.coercions for reading in readings),
    )


class _ItemReading:
    """Reads one item of a scoring reply and counts the values read from another type."""

    def __init__(self, key: str, value: object) -> None:
        self.key = key
        self.coercions = 0
        self._fields: dict[str, object] = value if isinstance(value, dict) else {}

    def output(self) -> ItemScoreOutput:
        reason = self._fields.get("reason")
        return ItemScoreOutput(
            score=self._score(),
            evidence=self._evidence(),
            reason=reason.strip() if isinstance(reason, str) else "",
            confidence=self._confidence(),
        )

    def _score(self) -> int | None:
        if "score" not in self._fields:
            raise OutputRejected(
                RejectionCode.SCORE_MISSING, f"{self.key} has no score. Give 0, 1, 2, 3 or N/A."
            )
        value = self._fields["score"]
        if self._is_unknown(value):
            return None
        value = _number_of_words(value, _SCORE_WORDS)
        return self._whole(value, 0, 3, RejectionCode.SCORE_INVALID, "score has to be 0-3 or N/A")

    def _is_unknown(self, value: object) -> bool:
        if not isinstance(value, str):
            return value is None
        word = words_of(value).lower()
        is_unknown = word in {"", "unknown"}
        self.coercions += is_unknown
        return is_unknown or _NOT_AVAILABLE.fullmatch(word) is not None

    def _confidence(self) -> int | None:
        value = self._fields.get("confidence")
        if self._is_unknown(value):
            return None
        return self._whole(
            value, 1, 5, RejectionCode.CONFIDENCE_INVALID, "confidence has to be 1-5"
        )

    def _whole(self, value: object, low: int, high: int, code: RejectionCode, rule: str) -> int:
        number = read_whole_number(value, low=low, high=high)
        if number is None:
            raise OutputRejected(code, f"{self.key}: {rule}, a whole number.")
        self.coercions += number.coerced
        return number.value

    def _evidence(self) -> tuple[str, ...]:
        value = self._fields.get("evidence")
        match value:
            case None if "evidence" not in self._fields and self._has_other_texts():
                raise OutputRejected(
                    RejectionCode.WRONG_TYPE,
                    f'{self.key}: the quotes have to stand under the key "evidence".',
                )
            case None:
                return ()
            case str():
                self.coercions += 1
                texts = [value]
            case list() if all(isinstance(text, str) for text in value):
                texts = value
            case _:
                raise OutputRejected(
                    RejectionCode.WRONG_TYPE, f"{self.key}: evidence has to be a list of strings."
                )
        refuse_too_many(texts, self.key)
        return tuple(dict.fromkeys(words for text in texts if (words := words_of(text))))

    def _has_other_texts(self) -> bool:
        """Return whether a list stands under some other key: its texts would be lost."""
        return any(isinstance(value, list) and value for value in self._fields.values())


_NOT_AVAILABLE: Final = re.compile(r"n\s*/?\s*a")

_NUMBER: Final = (
    r"(-?\d{1,9}(?:[.,]\d{1,9}|\s?(?:[-–]|to|or)\s?\d{1,9})?)\s?(?:(?:/|out of)\s?(\d{1,9}))?"
)
_LABEL: Final = r"(?:score|rating)[\"'*_\s]{0,8}[:=：][\"'*_\[(\s]{0,8}"
_LABELLED_LINE: Final = re.compile(
    rf"^[\W_]{{0,16}}(?:\w{{1,20}} )?{_LABEL}(?:{_NUMBER})?", re.IGNORECASE | re.MULTILINE
)
_LABELLED: Final = re.compile(rf"\b{_LABEL}{_NUMBER}", re.IGNORECASE)
_LAST_LINE: Final = re.compile(
    rf"^[ \t*_\[(]{{0,16}}{_NUMBER}[ \t*_\])]{{0,16}}\.?\Z", re.MULTILINE
)
_EXPLANATION: Final = re.compile(
    r"^[\W_]{0,16}explanation[\"'*_\s]{0,8}[:=：]", re.IGNORECASE | re.MULTILINE
)
_ECHOED_EXPLANATION: Final = "what you found"
"""The words of the task, not of the model."""
# A second number right after the first, such as: 2, no wait, 3
_SAID_ANEW: Final = re.compile(
    r"[ \t,;.*~…→>-]{0,8}\d"
    r"|[^\w\n]{0,8}(?:(?:no|wait|hmm|actually|or|rather|sorry|make (?:that|it)|i mean|correction)\b"
    r"[^\w\n]{0,8}){1,4}\d",
    re.IGNORECASE,
)


@asking_again
def extract_judge_metric(text: str) -> JudgeMetricOutput:
    """Read the last score of a judge's reply, and the explanation."""
    reply = without_thinking(text)
    found = _last_score(reply)
    if found is None or found[1] is None:
        raise OutputRejected(
            RejectionCode.SCORE_MISSING, "No score was found. End with a line such as: Score: 3"
        )
    number = read_whole_number(found[1], low=1, high=5)
    if number is None or found[2] not in {None, "5"}:
        raise OutputRejected(
            RejectionCode.SCORE_INVALID, "The score has to be a whole number from 1 to 5."
        )
    if _SAID_ANEW.match(reply, found.end()):
        raise OutputRejected(
            RejectionCode.SCORE_INVALID, "The score line names several numbers. Give one score."
        )
    return JudgeMetricOutput(score=number.value, explanation=_explanation(reply, found))


def _last_score(reply: str) -> re.Match[str] | None:
    lines = (_last(_LABELLED_LINE, reply), _LAST_LINE.search(reply))
    found = [line for line in lines if line is not None]
    return max(found, key=lambda line: line.end(1)) if found else _last(_LABELLED, reply)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match, looked for in pieces: one search would hold the interpreter."""
    last: re.Match[str] | None = None
    at = 0
    while at < len(text):
        end = at + _PIECE_CHARACTERS
        for match in pattern.finditer(text, at, end + _LONGEST_MATCH_CHARACTERS):
            if match.start() >= end:
                break
            last = match
        at = end if last is None else max(end, last.end())
    return last


_PIECE_CHARACTERS: Final = 16_384
_LONGEST_MATCH_CHARACTERS: Final = 512


def _explanation(reply: str, score: re.Match[str]) -> str:
    label = _last(_EXPLANATION, reply)
    if label is not None and label.end() > score.start():
        if _last(_EXPLANATION, reply[: score.start()]) is not None:
            # A second explanation whose score is missing.
            raise OutputRejected(
                RejectionCode.SCORE_MISSING, "The last explanation has no score. Give both again."
            )
        words = reply[label.end() :]
    else:
        words = reply[label.end() if label else 0 : score.start()]
    words = words_of(words).strip(" \t\r\n*_\"'{},")
    if not words or words.lower().rstrip(".") == _ECHOED_EXPLANATION:
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD, "The explanation is missing. Explain the score first."
        )
    return words


@asking_again
def extract_meta_review(text: str) -> MetaReviewOutput:
    """Read the severity 0-4 and its explanation; a severity outside is refused, never clamped."""
    reply = without_thinking(text)
    if "<severity>" not in reply.lower() and "{" in reply:
        return _meta_review_of(parse_object(text))
    written = _required_block(reply, "severity").strip("*_[]\"' ")
    return MetaReviewOutput(
        severity=_severity(written).value, explanation=_required_block(reply, "explanation")
    )


def _meta_review_of(parsed: ParsedObject) -> MetaReviewOutput:
    """Read a meta-review that is given as JSON in place of tags."""
    explanation = parsed.value.get("explanation")
    if "severity" not in parsed.value or not isinstance(explanation, str):
        raise OutputRejected(
            RejectionCode.MISSING_TAG,
            "The tags <severity> and <explanation> are missing. Reply with both.",
        )
    if not words_of(explanation):
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD, "The explanation is empty. Explain the severity."
        )
    severity = _severity(parsed.value["severity"])
    return MetaReviewOutput(
        severity=severity.value,
        explanation=explanation,
        repaired=parsed.repaired,
        coercions=int(severity.coerced),
    )


_NUMBER_AND_WORDS: Final = re.compile(r"(\d)\s?[-–=:(]\s?([a-z -]{3,40}?)\)?\.?", re.IGNORECASE)
_SCORE_WORDS: Final = (
    ("not at all",),
    ("several days", "on several days"),
    ("more than half of the days", "on more than half of the days", "more than half the days"),
    ("nearly every day",),
)
_SEVERITY_WORDS: Final = (
    ("minimal",),
    ("mild",),
    ("moderate",),
    ("moderately severe",),
    ("severe",),
)


def _number_of_words(value: object, words: Sequence[Sequence[str]]) -> object:
    """Return the number of a text such as "2 (moderate)", if its words say the same."""
    found = _NUMBER_AND_WORDS.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or int(found[1]) >= len(words):
        return value
    return found[1] if found[2].lower() in words[int(found[1])] else value


def _severity(value: object) -> WholeNumber:
    severity = read_whole_number(_number_of_words(value, _SEVERITY_WORDS), low=0, high=4)
    if severity is None:
        raise OutputRejected(
            RejectionCode.SCORE_INVALID,
            "<severity> has to hold one whole number from 0 to 4 and nothing else.",
        )
    return severity
