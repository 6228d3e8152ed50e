"""What a protocol file says at one place against what it says at another, or about an interview.

The checks look at the file as it was read, so that they find what is wrong however much of it is.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import READ_LANGUAGE
from ai_psychiatrist.interview.protocol.placeholders import check_no_places, check_places
from ai_psychiatrist.interview.protocol.records import (
    LEAST_THRESHOLD,
    MOST_THRESHOLD,
    AnswerPolicy,
    ProtocolKind,
    Safety,
)
from ai_psychiatrist.interview.protocol.texts import Conversation, PageTexts, Review
from ai_psychiatrist.validation.config.document import Document
from ai_psychiatrist.validation.config.problem import KeyPath, dotted
from ai_psychiatrist.validation.expressions import ExpressionRefused, compile_expression
from ai_psychiatrist.validation.nearest import did_you_mean

_CONFIRMATION_PLACES: Final = ("anchor", "item", "words")
_CORRECTION_PLACES: Final[Mapping[str, Sequence[str]]] = {
    "question": ("earlier", "current"),
    "earlier": ("item",),
    "current": ("item",),
    "again": (),
}
_COUNTED: Final = ("number", "of")
_CONVERSATION_PLACES: Final[Mapping[tuple[str | type, ...], Sequence[str]]] = {
    ("paused",): (),
    ("resumed",): _COUNTED,
    ("wait",): (),
    ("stop", str): (),
    ("once_more", str): ("item",),
    ("choose",): (),
    ("days",): ("days", "item"),
    ("unread",): (),
    ("joined",): (),
    ("reopened",): ("item",),
    ("unclear", str): ("found",),
    ("explanations", str): _COUNTED,
    ("review", "question"): ("noted",),
    ("review", "line"): ("item", "answer"),
    ("review", "said"): ("words",),
    ("review", "change"): ("item",),
}
"""What may stand in braces in the sentences of a conversation."""
_SHOWN: Final = (("days",), ("review", "question"), ("review", "line"))
"""Sentences that show the person what is to count: without their places nothing could be denied."""
_PERIOD: Final = re.compile(r"\b(?:two weeks|fortnight|(?:14|fourteen) (?:days|nights))\b")
_NO_QUESTIONS: Final = frozenset({"name", "explanation"})
"""Texts of an item that are none."""
_WORD: Final = re.compile(r"\w+")
_NO_CONFIDENCE: Final = "an item is answered or it is not; there is no confidence to reach"
_MEANINGLESS: Final[Mapping[ProtocolKind, Mapping[tuple[str, ...], str]]] = {
    ProtocolKind.ITEMS: {
        ("goals",): "the goals are the unknown items",
        ("facts",): "answers about items are scored, not gathered",
        ("answers", "offered"): "the answers to a question about an item are the anchors",
        ("stop", "threshold"): _NO_CONFIDENCE,
        ("stop", "stall_turns"): _NO_CONFIDENCE,
    },
    ProtocolKind.GOALS: {
        ("items",): "a model asks the questions",
        ("answers", "anchors"): "only items are scored by their frequency",
        ("answers", "confirmation"): "only answers about items are taken for a frequency",
        ("answers", "correction"): "only answers about items are scored",
        ("conversation", "review"): "only answers about items are noted by item",
        ("period",): "only questions about items count days",
        ("stop", "max_asks"): "how often a goal is asked about is the model's choice",
    },
}
_NEEDED: Final[Mapping[ProtocolKind, Sequence[tuple[str, ...]]]] = {
    ProtocolKind.ITEMS: (
        ("items",),
        *(("items", item.value) for item in Item),
        ("answers", "anchors"),
        ("answers", "decline"),
        ("stop", "max_asks"),
    ),
    ProtocolKind.GOALS: (
        ("goals",),
        ("answers", "offered"),
        ("stop", "threshold"),
        ("stop", "stall_turns"),
        ("prompts",),
    ),
}
_VERB: Final = "is|are|was|were|do|does|did|have|has|had|will|would|can|could|should|must"
_TAGS: Final = (
    r",\s*(?:right|correct|yes|no|yeah|ok|okay|true|huh|eh|agreed)\s*\?",
    rf",\s*(?:{_VERB})\s+(?:it|you|he|she|they|that|there|we|i)(?:\s+not)?\s*\?",
)
_SPACES: Final = re.compile(r"\s+")


def check_protocol(document: Document) -> None:
    """Report what no single value shows. Raises `TooManyProblems`."""
    for _, kind in _texts(document, "kind"):
        if kind in list(ProtocolKind):
            _check_kind(document, ProtocolKind(kind))
            _check_end(document, ProtocolKind(kind))
    inputs = {str(key): value for (_, key), value in _found(document, "inputs", str)}
    _check_sentences(document, inputs)
    _check_page(document)
    _check_language(document)
    _check_wordings(document)
    _check_options(document)
    _check_rules(document, inputs)
    _check_threshold(document, inputs)


def _found(document: Document, *pattern: str | type) -> list[tuple[KeyPath, object]]:
    """Return the values at all locations of a pattern; `str` is any key, `int` any position."""
    found: list[tuple[KeyPath, object]] = [((), document.value)]
    for part in pattern:
        found = [
            ((*location, key), inner)
            for location, value in found
            for key, inner in _entries(value)
            if part in {key, type(key)}
        ]
    return found


def _texts(document: Document, *pattern: str | type) -> Iterator[tuple[KeyPath, str]]:
    for location, value in _found(document, *pattern):
        if isinstance(value, str):
            yield location, value


def _entries(value: object) -> Iterable[tuple[str | int, object]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _check_kind(document: Document, kind: ProtocolKind) -> None:
    """Report what a protocol of its kind cannot have, and what it has to have."""
    for keys, reason in _MEANINGLESS[kind].items():
        for location, _ in _found(document, *keys):
            message = f"{keys[-1]!r} has no meaning here: {reason}"
            document.error(location, "not_for_this_kind", message)
    for *around, key in _NEEDED[kind]:
        for location, value in _found(document, *around):
            if isinstance(value, dict) and key not in value:
                code = "missing_stem" if location == ("items",) else "missing_key"
                document.error(location, code, f"{key!r} is missing here")


def _check_end(document: Document, kind: ProtocolKind) -> None:
    """Report an end that does not fit the kind, or comes before all is asked."""
    unfit, fitting = ("analysis", "items") if kind is ProtocolKind.ITEMS else ("items", "analysis")
    for location, report in _texts(document, "report"):
        if report == unfit:
            message = f"a protocol of {kind.value} ends with the report {fitting!r}"
            document.error(location, "report_kind", message)
    for location, turns in _found(document, "stop", "max_turns"):
        if kind is ProtocolKind.ITEMS and isinstance(turns, int) and 1 <= turns < len(Item):
            message = f"{turns} turns cannot ask about all {len(Item)} items"
            document.warn(location, "too_few_turns", message)


def _check_sentences(document: Document, inputs: Collection[str]) -> None:
    for location, text in _texts(document, "texts", str):
        counted = ["of"] if location[-1] == "introduction" else []
        check_places(document, location, text, [*inputs, *counted])
        _check_leading(document, location, text)
    for location, text in (
        *_texts(document, "safety", str),
        *_texts(document, "safety", "go_on", str),
    ):
        check_no_places(document, location, text, what="the text of a safety hold")
    _check_conversation(document)
    for location, text in _texts(document, "answers", "confirmation", "question"):
        check_places(document, location, text, _CONFIRMATION_PLACES)
        _check_question(document, location, text)
        # Without what is to count nothing could be denied.
        _check_all_places(document, location, text, _CONFIRMATION_PLACES[:1])
    for key, places in _CORRECTION_PLACES.items():
        for location, text in _texts(document, "answers", "correction", key):
            check_places(document, location, text, places)
            _check_all_places(document, location, text, places)
    for location, text in _texts(document, "answers", "correction", "question"):
        _check_question(document, location, text)


def _check_conversation(document: Document) -> None:
    for keys, places in _CONVERSATION_PLACES.items():
        for location, text in _texts(document, "conversation", *keys):
            check_places(document, location, text, places)
            _check_leading(document, location, text)
    for keys in _SHOWN:
        for location, text in _texts(document, "conversation", *keys):
            _check_all_places(document, location, text, _CONVERSATION_PLACES[keys])


def _check_all_places(
    document: Document, location: KeyPath, text: str, places: Sequence[str]
) -> None:
    for place in places:
        if f"{{{place}}}" not in text:
            document.error(location, "no_place", f"the text has no place {{{place}}}")


def _check_page(document: Document) -> None:
    """Report places that nothing fills, and texts that stay in English beside another language."""
    for location, text in _texts(document, "page", str):
        if location[-1] == "progress":
            check_places(document, location, text, _COUNTED)
        else:
            check_no_places(document, location, text, what="a text of the page")


def _check_language(document: Document) -> None:
    """Report texts that stay in English beside questions in another language."""
    is_reviewed = _found(document, "conversation", "review")
    conversation = Conversation(review=Review()) if is_reviewed else Conversation()
    said = {
        "conversation": conversation.model_dump(mode="json"),
        "answers": AnswerPolicy(max_length=1).model_dump(mode="json"),
        "safety": Safety(hold="-").model_dump(mode="json", exclude={"danger"}),
        "page": PageTexts().model_dump(mode="json"),
    }
    if ProtocolKind.GOALS in (kind for _, kind in _texts(document, "kind")):
        del said["answers"]
    for location, language in _texts(document, "page", "language"):
        given = document.value
        if language.partition("-")[0].casefold() != READ_LANGUAGE and isinstance(given, dict):
            left = ", ".join(_left_out(said, given))
            if left:
                message = f"texts that are not given here stay English: {left}"
                document.warn(location, "texts_not_whole", message)


def _left_out(said: Mapping[str, object], given: Mapping[object, object]) -> Iterator[str]:
    """Yield which texts that have a default are not given."""
    for key, text in said.items():
        inside = given.get(key)
        if isinstance(text, dict):
            more = _left_out(text, inside if isinstance(inside, dict) else {})
            yield from (f"{key}.{name}" for name in more)
        elif isinstance(text, str) and inside is None:
            yield key


def _check_wordings(document: Document) -> None:
    """Report questions about items that cannot be asked, or are asked already."""
    seen: dict[tuple[str, ...], KeyPath] = {}
    named = [text.casefold() for _, text in _texts(document, "period", int)]
    for location, text in _texts(document, "items", str, str):
        check_no_places(document, location, text, what="a question")
        if location[-1] in _NO_QUESTIONS:
            _check_leading(document, location, text)
            continue
        _check_question(document, location, text)
        folded = text.casefold()
        if not (any(one in folded for one in named) if named else _PERIOD.search(folded)):
            message = "the question does not name the last two weeks"
            cure = "in another language say in `period` what they are called"
            document.error(location, "no_period", message if named else f"{message}; {cure}")
        words = tuple(_WORD.findall(text.casefold()))
        if words in seen:
            message = f"the same words are asked at {dotted(seen[words])}"
            document.error(location, "repeated_question", message)
        seen.setdefault(words, location)


def _check_question(document: Document, location: KeyPath, text: str) -> None:
    _check_leading(document, location, text)
    if not text.strip().endswith("?"):
        document.error(location, "no_question", "a question ends in a question mark")


def _check_leading(document: Document, location: KeyPath, text: str) -> None:
    """Report words of a question, or of a sentence before one, that suggest an answer."""
    leading = leading_words(text)
    if leading:
        message = f"{', '.join(map(repr, leading))} suggests an answer"
        document.error(location, "leading_question", message)


def _check_options(document: Document) -> None:
    """Report answers that a reader could not tell apart."""
    seen: set[str] = set()
    for location, text in (
        *_texts(document, "answers", "anchors", int, "text"),
        *_texts(document, "answers", "decline"),
        *_texts(document, "answers", "confirmation", "agree"),
        *_texts(document, "answers", "confirmation", "disagree"),
        *_texts(document, "answers", "correction", "earlier"),
        *_texts(document, "answers", "correction", "current"),
        *_texts(document, "answers", "correction", "again"),
    ):
        folded = " ".join(text.casefold().split()).rstrip(".")
        if folded in seen:
            document.error(location, "duplicate_option", f"{text!r} is offered twice")
        seen.add(folded)


def _check_rules(document: Document, inputs: Mapping[str, object]) -> None:
    """Report rules that cannot be applied to the inputs."""
    for location, source in _texts(document, "rules", int, "expr"):
        try:
            compiled = compile_expression(source)
        except ExpressionRefused as error:
            document.error(location, "expression", error.message, column=error.column)
            continue
        for unknown in sorted({read.name for read in compiled.reads} - inputs.keys()):
            message = f"no input is named {unknown!r}{did_you_mean(unknown, inputs)}"
            document.error(location, "unknown_input", message)
    for location, text in _texts(document, "rules", int, "error"):
        # What a rule says goes into an error, and errors hold no words of the person.
        check_places(document, location, text, ())


def _check_threshold(document: Document, inputs: Mapping[str, object]) -> None:
    """Report an input that cannot say at which confidence an interview ends."""
    numbers = {
        name: given
        for name, given in inputs.items()
        if isinstance(given, dict) and given.get("type") == "integer"
    }
    for location, name in _texts(document, "stop", "threshold"):
        if name not in numbers:
            hint = did_you_mean(name, numbers)
            message = f"no input of type integer is named {name!r}{hint}"
            document.error(location, "unknown_input", message)
            continue
        bounds = (numbers[name].get("low"), numbers[name].get("high"))
        if not all(LEAST_THRESHOLD <= at <= MOST_THRESHOLD for at in bounds if isinstance(at, int)):
            limits = f"{LEAST_THRESHOLD} to {MOST_THRESHOLD} percent"
            document.error(location, "threshold_range", f"{name!r} may lie outside {limits}")


def leading_words(question: str) -> tuple[str, ...]:
    """Return the words of a question that suggest its answer, in their order, in lower case."""
    plain = _SPACES.sub(" ", question.replace("’", "'").replace("ʼ", "'").casefold())
    return tuple(found[0].strip(" ,") for found in _pattern().finditer(plain))


@cache
def _pattern() -> re.Pattern[str]:
    text = resources.files(__package__).joinpath("leading.toml").read_text(encoding="utf-8")
    phrases: list[str] = sorted(tomllib.loads(text)["phrases"], key=len, reverse=True)
    return re.compile("|".join([*(rf"\b{re.escape(phrase)}\b" for phrase in phrases), *_TAGS]))
