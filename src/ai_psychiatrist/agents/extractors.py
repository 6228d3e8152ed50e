"""Turn a reply's text into an agent's output, or ask the model again.

Each extractor raises a `ReplyRejected` that is a `ModelRetry`, with feedback for the model that
says what is wrong and what is wanted and never repeats the reply. What `…_in_part` reads is what is
valid of a reply that was refused. Both read the reply field by field in the same way: a whole
output is a reading without a problem, a partial one a reading with its problems noted.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from typing import Final, TypeGuard, TypeVar

from ai_psychiatrist.agents.output_models import (
    SECTIONS,
    EvidenceOutput,
    ItemScoreOutput,
    JudgeMetricOutput,
    JudgesOutput,
    MetaReviewOutput,
    PartialJudgement,
    PartialJudgements,
    PartialMetaReview,
    PartialScores,
    QualitativeOutput,
    QuantitativeOutput,
    words_of,
)
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode, UnreadPart
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.replies import ReplyRejected
from ai_psychiatrist.services.evidence_validation import (
    EvidenceSchemaError,
    validate_evidence_schema,
)
from ai_psychiatrist.validation.checks.coercion.text_values import (
    read_whole_number,
    whole_number_of,
)
from ai_psychiatrist.validation.reply.json_decoder import NotJson, decode
from ai_psychiatrist.validation.reply.limits import (
    HALF_CHARACTER,
    PARTS_LIMITS,
    STRICT_LIMITS,
    ParseLimits,
    marked_halves,
    refuse_broken_text,
    rejected,
)
from ai_psychiatrist.validation.reply.parse import parse_object, parse_value
from ai_psychiatrist.validation.reply.thinking import (
    has_unclosed_tag,
    tagged_block,
    without_thinking,
)

OutputT = TypeVar("OutputT")
ValueT = TypeVar("ValueT")

logger = get_logger(__name__)

MAX_QUOTES: Final = 100
"""Most quotes in one list of a reply."""
A_WORD: Final = re.compile(r"\w")
"""What a placeholder such as … lacks."""


def asking_again(extract: Callable[[str], OutputT]) -> Callable[[str], OutputT]:
    """Translate rejections into Pydantic AI's retry; the only place that does."""

    @wraps(extract)
    def extractor(text: str) -> OutputT:
        try:
            refuse_broken_text(text)
            return extract(text)
        except OutputRejected as rejection:
            refused = rejection.detached()
        except (ValueError, RecursionError):
            # Such as a check of the output model that the extractor did not foresee.
            refused = OutputRejected(
                RejectionCode.WRONG_TYPE,
                "The reply has another format. Reply only in the format that the task shows.",
            )
        # With the first rejection: a reply that is accepted needs no library to be read.
        from ai_psychiatrist.llm.pydantic_agent import asked_again  # noqa: PLC0415

        refusal = ReplyRejected(refused.code, refused.feedback, refused.violations)
        # The cause would carry the reply into tracebacks.
        raise asked_again(refusal) from None

    return extractor


def valid_part(read: Callable[[str], OutputT | None]) -> Callable[[str], OutputT | None]:
    """Let a reading of what is valid of a refused reply find nothing where it finds no answer.

    It gets the reply with a mark in the place of each half of a character.
    """

    @wraps(read)
    def reader(text: str) -> OutputT | None:
        with suppress(OutputRejected, ValueError, RecursionError):
            return read(marked_halves(text, has_escapes="{" in text or "[" in text))
        return None

    return reader


def refuse_for(problems: Iterable[OutputRejected], *, most: int | None = None) -> None:
    """Refuse a reply that has problems, by the code of the first and the feedback of so many."""
    listed = list(problems)
    if listed:
        feedback = dict.fromkeys(problem.feedback for problem in listed)
        raise OutputRejected(listed[0].code, " ".join([*feedback][:most]))


def refuse_too_many(quotes: Sequence[object], place: str) -> None:
    """Reject lists that are too long: checking each quote takes time, and none may be dropped."""
    if len(quotes) > MAX_QUOTES:
        raise OutputRejected(
            RejectionCode.TOO_MANY_QUOTES,
            f"{place} lists too many quotes. List only the most important ones.",
        )


class FieldReading:
    """Reads one object of a reply field by field, and notes what of it cannot be read."""

    def __init__(self, value: object) -> None:
        self.fields: dict[str, object] = value if isinstance(value, dict) else {}
        self.problems: dict[UnreadPart, OutputRejected] = {}
        self.coercions = 0
        """How many values are written in another way than the task shows."""

    def part(self, part: UnreadPart, read: Callable[[], ValueT], unread: ValueT) -> ValueT:
        """Return what is read of a field, `unread` for one that has a problem."""
        try:
            return read()
        except OutputRejected as problem:
            self.problems[part] = problem.detached()
            return unread

    def number(self, value: object, low: int, high: int, problem: OutputRejected) -> int:
        """Return a whole number of a scale; raises the problem for anything else."""
        number = read_whole_number(value, low=low, high=high)
        if number is None:
            raise problem
        self.coercions += number.coerced
        return number.value


# Texts between tags


def _required_block(reply: str, tag: str, block: str | None) -> str:
    """Return a block that was looked for; raises `OutputRejected` where it says nothing."""
    _refuse_cut_off(reply, tag)
    if block is None:
        raise OutputRejected(
            RejectionCode.MISSING_TAG,
            f"The tag <{tag}>…</{tag}> is missing. Reply with all tags of the task.",
        )
    if not A_WORD.search(block):
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD,
            f"The tag <{tag}> is empty. Write its content, or: not assessed in interview.",
        )
    return block


def _refuse_cut_off(reply: str, tag: str) -> None:
    if has_unclosed_tag(reply, tag):
        raise OutputRejected(
            RejectionCode.TRUNCATED,
            f"The reply ends inside <{tag}>. Reply with all tags of the task, more briefly.",
        )


def _words_in_tag(reply: str, tag: str) -> str:
    return _required_block(reply, tag, tagged_block(reply, tag))


# The qualitative assessment

_SECTION_TAG: Final = re.compile(rf"<(/?)({'|'.join(SECTIONS)})>", re.IGNORECASE)
_BULLET: Final = re.compile(r"(?:[-*•–—]|\d{1,3}[.)])\s+")
_QUOTE_MARKS: Final = '"“”„«»'
_NO_QUOTE: Final = frozenset({"", "not assessed in interview", "none", "n/a", "-"})


@asking_again
def extract_qualitative(text: str) -> QualitativeOutput:
    """Read the tagged narrative; each tag has to be there and hold words."""
    reply = without_thinking(text)
    blocks = _last_sections(reply)
    fields = {tag.lower(): _required_block(reply, tag, blocks.get(tag)) for tag in SECTIONS}
    quotes = tagged_block(reply, "exact_quotes")
    _refuse_cut_off(reply, "exact_quotes")
    return QualitativeOutput(exact_quotes=tuple(_bulleted(quotes or "")), **fields)


def _last_sections(reply: str) -> dict[str, str]:
    """Return the sections of the last narrative: one that is written again begins another."""
    names = {tag.lower(): tag for tag in SECTIONS}
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


def _bulleted(block: str) -> list[str]:
    lines = (_BULLET.sub("", words_of(line), count=1).strip() for line in block.splitlines())
    quotes = (words_of(line.strip(_QUOTE_MARKS)) for line in lines)
    spoken = [quote for quote in quotes if quote and quote.casefold().rstrip(".") not in _NO_QUOTE]
    refuse_too_many(spoken, "<exact_quotes>")
    return list(dict.fromkeys(spoken))


# The judge

_NUMBER: Final = (
    r"(-?\d{1,9}(?:[.,]\d{1,9}|\s?(?:[-–]|to|or)\s?\d{1,9})?)\s?(?:(?:/|out of)\s?(\d{1,9}))?"
)
_LABEL: Final = r"(?:score|rating)[\"'*_\s]{0,8}[:=：][\"'*_\[(\s]{0,8}"
_LABELLED_LINE: Final = re.compile(
    rf"^(?!\W{{17}})[\W_]{{0,16}}(?:\w{{1,20}} )?{_LABEL}(?:{_NUMBER})?",
    re.IGNORECASE | re.MULTILINE,
)
_LABELLED: Final = re.compile(rf"\b{_LABEL}{_NUMBER}", re.IGNORECASE)
_LAST_LINE: Final = re.compile(
    rf"^[ \t*_\[(]{{0,16}}{_NUMBER}[ \t*_\])]{{0,16}}\.?\Z", re.MULTILINE
)
_EXPLANATION: Final = re.compile(
    r"^(?!\W{17})[\W_]{0,16}explanation[\"'*_\s]{0,8}[:=：]", re.IGNORECASE | re.MULTILINE
)
_ECHOED_EXPLANATION: Final = "what you found"
"""The words of the task, not of the model."""
# A second number right after the first, such as: 2, no wait, 3
_SAID_AGAIN: Final = re.compile(
    r"[ \t,;.*~…→>-]{0,8}\d"
    r"|[^\w\n]{0,8}(?:(?:no|wait|hmm|actually|or|rather|sorry|make (?:that|it)|i mean|correction)\b"
    r"[^\w\n]{0,8}){1,4}\d",
    re.IGNORECASE,
)
_PIECE_CHARACTERS: Final = 16_384
_LONGEST_MATCH_CHARACTERS: Final = 512


@asking_again
def extract_judge_metric(text: str) -> JudgeMetricOutput:
    """Read the last score of a judge's reply, and the explanation."""
    return _Judgement(without_thinking(text)).whole()


@valid_part
def judgement_in_part(text: str) -> PartialJudgement | None:
    """Read the score of a refused reply whose explanation is missing or cannot be read."""
    return _Judgement(without_thinking(text), PARTS_LIMITS).in_part()


@asking_again
def extract_judges(text: str) -> JudgesOutput:
    """Read the metrics that are there; a reply in which none can be read is refused."""
    read, refused = _by_metric(text, _Judgement.whole)
    if not read:
        raise refused[0].detached()
    return JudgesOutput(scores={**read})


@valid_part
def judgements_in_part(text: str) -> PartialJudgements | None:
    """Read the scores of a refused reply about all metrics."""
    scores, _ = _by_metric(text, _Judgement.in_part, PARTS_LIMITS)
    return PartialJudgements(scores=scores) if scores else None


def _by_metric(
    text: str, take: Callable[["_Judgement"], OutputT], limits: ParseLimits = STRICT_LIMITS
) -> tuple[dict[Metric, OutputT], list[OutputRejected]]:
    """Return what is taken of the metrics that can be read, and why the others are refused."""
    reply = without_thinking(text)
    fields = _whole_object(reply, limits)
    found: dict[Metric, OutputT] = {}
    refused: list[OutputRejected] = []
    for metric in Metric:
        try:
            said = _words_in_tag(reply, metric) if fields is None else fields.get(metric)
            said = without_thinking(said) if isinstance(said, str) else said
            found[metric] = take(_Judgement(said, limits))
        except OutputRejected as rejection:
            refused.append(rejection.detached())
    return found, refused


def _whole_object(reply: str, limits: ParseLimits) -> dict[str, object] | None:
    """Return the object that a reply is, `None` for one that is or holds anything else."""
    value: object = None
    if reply.lstrip().startswith("{"):
        with suppress(NotJson):
            value = decode(reply.strip(), limits)
    return value if isinstance(value, dict) else None


class _Judgement(FieldReading):
    """Reads a score and its explanation, from an object or from between labels.

    Raises `OutputRejected` where the score cannot be read: nothing stands without it.
    """

    def __init__(self, said: object, limits: ParseLimits = STRICT_LIMITS) -> None:
        super().__init__(_whole_object(said, limits) if isinstance(said, str) else said)
        # A refused reply has its score wherever it can be found.
        is_found = read_whole_number(self.fields.get("score"), low=1, high=5) is not None
        is_refused = "score" not in self.fields or limits.voids_repeated_keys
        if isinstance(said, str) and is_refused and not is_found:
            self.fields = _labelled(said)
        if "score" not in self.fields:
            raise OutputRejected(
                RejectionCode.SCORE_MISSING, "A metric has no score. Give a score for each metric."
            )
        rule = "The score has to be a whole number from 1 to 5."
        problem = OutputRejected(RejectionCode.SCORE_INVALID, rule)
        self._score = self.number(self.fields["score"], 1, 5, problem)
        self._explanation = self.part(UnreadPart.EXPLANATION, self._explaining, "")

    def whole(self) -> JudgeMetricOutput:
        """Return all of it; raises `OutputRejected` without an explanation."""
        refuse_for(self.problems.values())
        return JudgeMetricOutput(
            score=self._score, explanation=self._explanation, coercions=self.coercions
        )

    def in_part(self) -> PartialJudgement:
        """Return the score with what there is of an explanation."""
        return PartialJudgement(
            score=self._score, explanation=self._explanation, unread=tuple(self.problems)
        )

    def _explaining(self) -> str:
        value = self.fields.get("explanation")
        words = words_of(value) if isinstance(value, str) and HALF_CHARACTER not in value else ""
        if not words or words.lower().rstrip(".") == _ECHOED_EXPLANATION:
            raise OutputRejected(
                RejectionCode.EMPTY_FIELD,
                "The explanation is missing. Write what you found, then the score.",
            )
        return words


def _labelled(reply: str) -> dict[str, object]:
    """Return the last score and its explanation as an object would hold them.

    Raises `OutputRejected` where it is not clear which score is the last.
    """
    lines = (_last_match(_LABELLED_LINE, reply), _LAST_LINE.search(reply))
    ends = [line for line in lines if line is not None]
    score = max(ends, key=lambda line: line.end(1)) if ends else _last_match(_LABELLED, reply)
    if score is None or score[1] is None:
        raise OutputRejected(
            RejectionCode.SCORE_MISSING, "No score was found. End with a line such as: Score: 3"
        )
    if _SAID_AGAIN.match(reply, score.end()):
        raise OutputRejected(
            RejectionCode.SCORE_INVALID, "The score line has several numbers. Give one score."
        )
    label = _last_match(_EXPLANATION, reply)
    words = reply[label.end() if label else 0 : score.start()]
    if label is not None and label.end() > score.start():
        if _last_match(_EXPLANATION, reply[: score.start()]) is not None:
            # A second explanation whose score is missing.
            raise OutputRejected(
                RejectionCode.SCORE_MISSING,
                "The last explanation has no score. Give the explanation and the score again.",
            )
        words = reply[label.end() :]
    return {
        "score": whole_number_of(score[1]) if score[2] in {None, "5"} else None,
        "explanation": words_of(words).strip(" \t\r\n*_\"'{},"),
    }


def _last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
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


# The meta-review

_MARKS: Final = "*_[]\"' "
_SEVERITY_WORDS: Final = (
    ("minimal",),
    ("mild",),
    ("moderate",),
    ("moderately severe",),
    ("severe",),
)


@asking_again
def extract_meta_review(text: str) -> MetaReviewOutput:
    """Read the severity 0-4 and its explanation; a severity outside is refused, never clamped."""
    review = _Review(text, STRICT_LIMITS)
    refuse_for(review.problems.values(), most=1)
    return MetaReviewOutput(
        severity=review.severity,
        explanation=review.explanation,
        repaired=review.repaired,
        coercions=0 if review.is_tagged else review.coercions,
    )


@valid_part
def meta_review_in_part(text: str) -> PartialMetaReview | None:
    """Read what a refused reply says of severity or explanation; a reply that is cut off, nothing.

    What would come after the cut may be another severity.
    """
    review, cut_off = _Review(text, PARTS_LIMITS), RejectionCode.TRUNCATED
    is_cut_off = any(problem.code is cut_off for problem in review.problems.values())
    if is_cut_off or (review.severity is None and not review.explanation):
        return None
    return PartialMetaReview(
        severity=review.severity, explanation=review.explanation, unread=tuple(review.problems)
    )


class _Review(FieldReading):
    """Reads a severity and its explanation, from an object or from between tags."""

    def __init__(self, text: str, limits: ParseLimits) -> None:
        self._reply = without_thinking(text)
        is_untagged = "<severity>" not in self._reply.lower() and "{" in self._reply
        self.is_tagged = not is_untagged and _whole_object(self._reply, limits) is None
        parsed = None if self.is_tagged else parse_object(text, limits)
        super().__init__(parsed and parsed.value)
        self.repaired = parsed is not None and parsed.repaired
        self.severity = self.part(UnreadPart.SEVERITY, self._severity, None)
        self.explanation = self.part(UnreadPart.EXPLANATION, self._explanation, "")

    def _said(self, name: str) -> object:
        if self.is_tagged:
            return _words_in_tag(self._reply, name)
        if name not in self.fields:
            raise OutputRejected(
                RejectionCode.MISSING_TAG,
                "The tags <severity> and <explanation> are missing. Reply with both.",
            )
        return self.fields[name]

    def _severity(self) -> int:
        value = self._said("severity")
        value = value.strip(_MARKS) if isinstance(value, str) else value
        rule = "<severity> has to hold one whole number from 0 to 4 and nothing else."
        problem = OutputRejected(RejectionCode.SCORE_INVALID, rule)
        return self.number(_number_of_words(value, _SEVERITY_WORDS), 0, 4, problem)

    def _explanation(self) -> str:
        words = self._said("explanation")
        if not isinstance(words, str) or HALF_CHARACTER in words or not words_of(words):
            raise OutputRejected(
                RejectionCode.EMPTY_FIELD, "The explanation is empty. Explain the severity."
            )
        return words


_NUMBER_AND_WORDS: Final = re.compile(r"(\d)\s?[-–=:(]\s?([a-z -]{3,40}?)\)?\.?", re.IGNORECASE)


def _number_of_words(value: object, words: Sequence[Sequence[str]]) -> object:
    """Return the number of a text such as "2 (moderate)", if its words say the same."""
    found = _NUMBER_AND_WORDS.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or int(found[1]) >= len(words):
        return value
    return found[1] if found[2].lower() in words[int(found[1])] else value


def is_unread_text(value: object) -> bool:
    """Return whether a value that has to be a text was given twice, or holds half a character."""
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and HALF_CHARACTER in value


# Objects of items

MOST_WRITTEN: Final = 8
"""Texts of one object that may be JSON: one holds the answer, and each is read to find that out."""
_WRAPPERS: Final = frozenset(
    {"answer", "finalanswer", "result", "results", "data", "output", "response", "json"}
    | {"evidence", "quotes", "scores", "items", "assessment", "phq8"}
)
_NO_LETTER: Final = re.compile(r"[\W_]+")


def folded(name: str) -> str:
    """Return a name without case and marks."""
    return _NO_LETTER.sub("", name).lower()


def unwrapped(value: object, names: frozenset[str], limits: ParseLimits) -> object:
    """Return what a value wraps, read from JSON where it is a text; `None` where it wraps nothing.

    That is the only entry of a list, or the only object or list of an object, under such a name.
    """
    match value:
        case [only]:
            return _unpacked(only, limits)
        case dict() if sum(map(_is_written_json, value.values())) <= MOST_WRITTEN:
            inner = ((key, _unpacked(said, limits)) for key, said in value.items())
            held = [(key, said) for key, said in inner if isinstance(said, dict | list)]
            if len(held) == 1 and folded(held[0][0]) in names:
                return held[0][1]
    return None


def _unpacked(value: object, limits: ParseLimits) -> object:
    """Return the JSON that a text holds, else the value as it is."""
    if _is_written_json(value):
        with suppress(OutputRejected):
            return parse_value(value, limits).value
    return value


def _is_written_json(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value.lstrip().startswith(("{", "["))


_ITEM_OF_NAME: Final = {folded(key): key for key in PHQ8_DOMAIN_KEYS}


class _Items:
    """What a reply says of each item that it names, in whatever writing of the keys.

    An item that is given twice is refused, or by the limits for parts has no value. By those one
    item is enough for the object that is read to be one that another wraps.
    """

    def __init__(self, text: str, limits: ParseLimits = STRICT_LIMITS) -> None:
        voids_repeated = limits.voids_repeated_keys
        parsed = parse_value(text, limits)
        told = parsed.value
        if isinstance(told, dict):
            # Other texts are remarks.
            told = {
                key: said
                for key, said in told.items()
                if isinstance(said, dict | list) or folded(key) in _WRAPPERS
            }
        inner = unwrapped(told, _WRAPPERS, STRICT_LIMITS)
        named = _ITEM_OF_NAME.keys() & map(folded, inner if isinstance(inner, dict) else ())
        is_wrapped = len(named) >= (1 if voids_repeated else len(PHQ8_DOMAIN_KEYS))
        self.value = inner if is_wrapped else parsed.value
        self.repaired = parsed.repaired
        self.coercions = int(is_wrapped)
        """How much around the items is written otherwise than the task shows."""
        self.values: dict[str, object] = {}
        self.unknown_keys = 0
        for key, said in self.value.items() if isinstance(self.value, dict) else ():
            item = _ITEM_OF_NAME.get(folded(key))
            if item is None:
                self.unknown_keys += 1
                continue
            if item in self.values and not voids_repeated:
                raise OutputRejected(
                    RejectionCode.DUPLICATE_KEY, f"{item} is given twice. Give each item once."
                )
            self.values[item] = None if item in self.values else said
            self.coercions += key != item


# Evidence

_ECHO: Final = re.compile(r"Reply with one JSON object and nothing else")


@asking_again
def extract_evidence(text: str) -> EvidenceOutput:
    """Read the quotes per item; a value that is not a list of texts is refused, never coerced."""
    said = _Items(text)
    try:
        quotes = validate_evidence_schema(
            said.values if isinstance(said.value, dict) else said.value
        )
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
            f"Each item key needs a list of strings. Correct this: {places}.",
            error.violations,
        ) from None
    if not any(quotes.values()) and _ECHO.search(without_thinking(text)):
        raise OutputRejected(
            RejectionCode.NO_JSON, "The reply repeats the task. Reply with the quotes."
        )
    for key, listed in quotes.items():
        refuse_too_many(listed, key)
    if said.unknown_keys and not said.values:
        raise OutputRejected(
            RejectionCode.MISSING_ITEM,
            f"No key is an item. Use these keys: {', '.join(PHQ8_DOMAIN_KEYS)}.",
        )
    return EvidenceOutput(
        quotes=quotes,
        unknown_keys=said.unknown_keys,
        repaired=said.repaired,
        coercions=said.coercions,
    )


# Scores

_NOT_AVAILABLE: Final = re.compile(r"n\s*/?\s*a")
_SCORE_WORDS: Final = (
    ("not at all",),
    ("several days", "on several days"),
    ("more than half of the days", "on more than half of the days", "more than half the days"),
    ("nearly every day",),
)
_NO_QUOTES: Final[tuple[str, ...]] = ()
_COSTS_THE_ITEM: Final = frozenset({UnreadPart.ITEM, UnreadPart.SCORE, UnreadPart.EVIDENCE})


@asking_again
def extract_quantitative(text: str) -> QuantitativeOutput:
    """Read the proposed score of each of the eight items."""
    said = _Items(text)
    if not isinstance(said.value, dict):
        raise rejected(RejectionCode.NOT_AN_OBJECT)
    readings = [_ItemReading(key, said.values.get(key)) for key in PHQ8_DOMAIN_KEYS]
    missing = [one.key for one in readings if UnreadPart.ITEM in one.problems]
    there = (one for one in readings if one.key not in missing)
    problems = [problem for one in there for problem in one.problems.values()]
    if missing:
        feedback = "Each of the eight items needs an object. Add or correct: "
        problems.insert(
            0, OutputRejected(RejectionCode.MISSING_ITEM, f"{feedback}{', '.join(missing)}.")
        )
    refuse_for(problems)
    return QuantitativeOutput(
        items={one.key: one.item for one in readings},
        repaired=said.repaired,
        coercions=said.coercions + sum(one.coercions for one in readings),
    )


@valid_part
def scores_in_part(text: str) -> PartialScores | None:
    """Read the items of a refused reply whose score and quotes can be read.

    A fault of one value costs its item, or its field where the score can stand without that.
    """
    said = _Items(text, PARTS_LIMITS).values
    readings = [_ItemReading(key, said.get(key)) for key in PHQ8_DOMAIN_KEYS]
    items = {one.key: one.item for one in readings if _COSTS_THE_ITEM.isdisjoint(one.unread)}
    unread = {one.key: one.unread for one in readings if one.unread}
    return PartialScores(items=items, unread=unread) if items else None


class _ItemReading(FieldReading):
    """Reads one item of a scoring reply."""

    def __init__(self, key: str, value: object) -> None:
        super().__init__(value)
        self.key = key
        self.item = ItemScoreOutput(
            score=self.part(UnreadPart.SCORE, self._score, None),
            evidence=self.part(UnreadPart.EVIDENCE, self._evidence, _NO_QUOTES),
            reason=self.part(UnreadPart.REASON, self._reason, ""),
            confidence=self.part(UnreadPart.CONFIDENCE, self._confidence, None),
        )
        """A part that has a problem is as if it had not been given."""
        if not isinstance(value, dict):
            self.problems = {
                UnreadPart.ITEM: self._problem(RejectionCode.MISSING_ITEM, " needs an object.")
            }
        self.unread = tuple(self.problems)

    def _problem(self, code: RejectionCode, what: str) -> OutputRejected:
        return OutputRejected(code, f"{self.key}{what}")

    def _score(self) -> int | None:
        if "score" not in self.fields:
            raise self._problem(
                RejectionCode.SCORE_MISSING, " has no score. Give 0, 1, 2, 3 or N/A."
            )
        value = self.fields["score"]
        if self._is_unknown(value):
            return None
        rule = ": score has to be 0, 1, 2, 3 or N/A."
        problem = self._problem(RejectionCode.SCORE_INVALID, rule)
        return self.number(_number_of_words(value, _SCORE_WORDS), 0, 3, problem)

    def _confidence(self) -> int | None:
        value = self.fields.get("confidence")
        if self._is_unknown(value):
            return None
        rule = ": confidence has to be a whole number from 1 to 5."
        return self.number(value, 1, 5, self._problem(RejectionCode.CONFIDENCE_INVALID, rule))

    def _is_unknown(self, value: object) -> bool:
        if not isinstance(value, str):
            return value is None
        word = words_of(value).lower()
        is_unknown = word in {"", "unknown"}
        self.coercions += is_unknown
        return is_unknown or _NOT_AVAILABLE.fullmatch(word) is not None

    def _reason(self) -> str:
        value = self.fields.get("reason")
        if is_unread_text(value):
            raise self._problem(
                RejectionCode.UNREPAIRABLE,
                ": reason is given twice or has half a character. Write one text.",
            )
        return value.strip() if isinstance(value, str) else ""

    def _evidence(self) -> tuple[str, ...]:
        value = self.fields.get("evidence")
        if value is None:
            has_others = any(isinstance(other, list) and other for other in self.fields.values())
            if "evidence" not in self.fields and has_others:
                # The texts of that list would be lost.
                raise self._problem(
                    RejectionCode.WRONG_TYPE,
                    ': the key of the quotes has to be "evidence".',
                )
            return ()
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise self._problem(RejectionCode.WRONG_TYPE, ": evidence has to be a list of strings.")
        if any(map(is_unread_text, value)):
            raise self._problem(
                RejectionCode.UNREPAIRABLE,
                ": a quote is given twice or has half a character. Copy it again.",
            )
        refuse_too_many(value, self.key)
        return tuple(dict.fromkeys(words for text in value if (words := words_of(text))))
