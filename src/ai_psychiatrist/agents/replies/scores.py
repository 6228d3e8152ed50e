"""The reply of the scoring agent: a score, quotes, a reason and a confidence for each item."""

import re
from collections.abc import Callable
from typing import Final, TypeVar

from ai_psychiatrist.agents.output_models import (
    ItemScoreOutput,
    PartialScores,
    QuantitativeOutput,
    words_of,
)
from ai_psychiatrist.agents.replies.item_keys import NamedItems, by_item, unwrapped
from ai_psychiatrist.agents.replies.parts import (
    is_unread_text,
    number_of_words,
    refuse_too_many,
    valid_part,
)
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode, UnreadPart
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.validation.checks.coercion.text_values import read_whole_number
from ai_psychiatrist.validation.reply.json_decoder import Parsed
from ai_psychiatrist.validation.reply.limits import PARTS_LIMITS, marked_halves
from ai_psychiatrist.validation.reply.parse import as_object, parse_value

ValueT = TypeVar("ValueT")

_NOT_AVAILABLE: Final = re.compile(r"n\s*/?\s*a")
_SCORE_WORDS: Final = (
    ("not at all",),
    ("several days", "on several days"),
    ("more than half of the days", "on more than half of the days", "more than half the days"),
    ("nearly every day",),
)
_NO_QUOTES: Final[tuple[str, ...]] = ()
_COSTS_THE_ITEM: Final = frozenset({UnreadPart.ITEM, UnreadPart.SCORE, UnreadPart.EVIDENCE})


def read_scores(text: str) -> QuantitativeOutput:
    """Read the proposed score of each of the eight items."""
    parsed = parse_value(text)
    value = unwrapped(parsed.value)
    named = by_item(as_object(Parsed(value=value, repaired=parsed.repaired)).value)
    missing = [key for key in PHQ8_DOMAIN_KEYS if not isinstance(named.values.get(key), dict)]
    readings = [
        _ItemReading(key, named.values[key]) for key in PHQ8_DOMAIN_KEYS if key not in missing
    ]
    items = {reading.key: reading.output() for reading in readings}
    problems = [problem for reading in readings for problem in reading.problems.values()]
    if missing:
        problems.insert(
            0,
            OutputRejected(
                RejectionCode.MISSING_ITEM,
                f"Each of the eight items needs an object. Missing or wrong: {', '.join(missing)}.",
            ),
        )
    if problems:
        feedback = " ".join(problem.feedback for problem in problems)
        raise OutputRejected(problems[0].code, feedback)
    return QuantitativeOutput(
        items=items,
        repaired=parsed.repaired,
        coercions=named.renamed
        + (value is not parsed.value)
        + sum(reading.coercions for reading in readings),
    )


@valid_part
def scores_in_part(text: str) -> PartialScores | None:
    """Read the items of a refused reply whose score and quotes can be read.

    A fault of one value costs its item, or its field where the score can stand without that.
    """
    parsed = parse_value(marked_halves(text, has_escapes=True), PARTS_LIMITS)
    value = unwrapped(parsed.value, least=1)
    named = by_item(value, voids_repeated=True) if isinstance(value, dict) else NamedItems()
    items: dict[str, ItemScoreOutput] = {}
    unread: dict[str, tuple[UnreadPart, ...]] = {}
    for key in PHQ8_DOMAIN_KEYS:
        said = named.values.get(key)
        reading = _ItemReading(key, said)
        answer = reading.output()
        parts = tuple(reading.problems) if isinstance(said, dict) else (UnreadPart.ITEM,)
        if _COSTS_THE_ITEM.isdisjoint(parts):
            items[key] = answer
        if parts:
            unread[key] = parts
    return PartialScores(items=items, unread=unread) if items else None


class _ItemReading:
    """Reads one item of a scoring reply, and notes what of it cannot be read."""

    def __init__(self, key: str, value: object) -> None:
        self.key = key
        self.coercions = 0
        """How many values were read from another type."""
        self.problems: dict[UnreadPart, OutputRejected] = {}
        self._fields: dict[str, object] = value if isinstance(value, dict) else {}

    def output(self) -> ItemScoreOutput:
        """Return the item; a part that has a problem is as if it had not been given."""
        return ItemScoreOutput(
            score=self._part(UnreadPart.SCORE, self._score, None),
            evidence=self._part(UnreadPart.EVIDENCE, self._evidence, _NO_QUOTES),
            reason=self._part(UnreadPart.REASON, self._reason, ""),
            confidence=self._part(UnreadPart.CONFIDENCE, self._confidence, None),
        )

    def _part(self, part: UnreadPart, read: Callable[[], ValueT], unread: ValueT) -> ValueT:
        try:
            return read()
        except OutputRejected as problem:
            self.problems[part] = problem.detached()
            return unread

    def _score(self) -> int | None:
        if "score" not in self._fields:
            raise OutputRejected(
                RejectionCode.SCORE_MISSING, f"{self.key} has no score. Give 0, 1, 2, 3 or N/A."
            )
        value = self._fields["score"]
        if self._is_unknown(value):
            return None
        value = number_of_words(value, _SCORE_WORDS)
        return self._whole(value, 0, 3, RejectionCode.SCORE_INVALID, "score has to be 0-3 or N/A")

    def _is_unknown(self, value: object) -> bool:
        if not isinstance(value, str):
            return value is None
        word = words_of(value).lower()
        is_unknown = word in {"", "unknown"}
        self.coercions += is_unknown
        return is_unknown or _NOT_AVAILABLE.fullmatch(word) is not None

    def _reason(self) -> str:
        value = self._fields.get("reason")
        if is_unread_text(value):
            raise OutputRejected(
                RejectionCode.UNREPAIRABLE, f"{self.key}: reason is no whole text."
            )
        return value.strip() if isinstance(value, str) else ""

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
        if value is None:
            if "evidence" not in self._fields and self._has_other_texts():
                raise OutputRejected(
                    RejectionCode.WRONG_TYPE,
                    f'{self.key}: the quotes have to stand under the key "evidence".',
                )
            return ()
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise OutputRejected(
                RejectionCode.WRONG_TYPE, f"{self.key}: evidence has to be a list of strings."
            )
        if any(map(is_unread_text, value)):
            raise OutputRejected(
                RejectionCode.UNREPAIRABLE, f"{self.key}: a quote is no whole text."
            )
        refuse_too_many(value, self.key)
        return tuple(dict.fromkeys(words for text in value if (words := words_of(text))))

    def _has_other_texts(self) -> bool:
        """Return whether a list stands under some other key: its texts would be lost."""
        return any(isinstance(value, list) and value for value in self._fields.values())
