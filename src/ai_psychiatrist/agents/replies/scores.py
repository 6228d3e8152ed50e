"""The reply of the scoring agent: a score, quotes, a reason and a confidence for each item."""

import re
from typing import Final

from ai_psychiatrist.agents.output_models import ItemScoreOutput, QuantitativeOutput, words_of
from ai_psychiatrist.agents.replies.item_keys import by_item, unwrapped
from ai_psychiatrist.agents.replies.parts import number_of_words, refuse_too_many
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.validation.checks.coercion.text_values import read_whole_number
from ai_psychiatrist.validation.reply.json_decoder import Parsed
from ai_psychiatrist.validation.reply.parse import as_object, parse_value

_NOT_AVAILABLE: Final = re.compile(r"n\s*/?\s*a")
_SCORE_WORDS: Final = (
    ("not at all",),
    ("several days", "on several days"),
    ("more than half of the days", "on more than half of the days", "more than half the days"),
    ("nearly every day",),
)


def read_scores(text: str) -> QuantitativeOutput:
    """Read the proposed score of each of the eight items."""
    parsed = parse_value(text)
    value = unwrapped(parsed.value)
    named = by_item(as_object(Parsed(value=value, repaired=parsed.repaired)).value)
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
        value = number_of_words(value, _SCORE_WORDS)
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
