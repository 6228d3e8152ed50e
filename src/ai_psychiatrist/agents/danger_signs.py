"""Turn the reply of the danger agent into its signs, or ask the model again."""

import re
from enum import StrEnum
from typing import Final, TypeVar

from ai_psychiatrist.agents.extractors import asking_again
from ai_psychiatrist.agents.output_models import DangerOutput, DangerSign, words_of
from ai_psychiatrist.agents.replies.parts import refuse_too_many
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.validation.reply.parse import parse_object

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)

_LEVELS: Final = (RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH)
_BETWEEN_WORDS: Final = re.compile(r"[\s-]+")
_A_WORD: Final = re.compile(r"\w")


@asking_again
def extract_danger(text: str) -> DangerOutput:
    """Read the signs of danger; an empty list says that there are none, a missing one nothing."""
    parsed = parse_object(text)
    listed = parsed.value.get("signs")
    if not isinstance(listed, list):
        raise OutputRejected(
            RejectionCode.MISSING_ITEM,
            'The reply needs the key "signs" with a list, which is empty where there is no sign.',
        )
    refuse_too_many(listed, "signs")
    readings = [_SignReading(f"signs[{at}]", value) for at, value in enumerate(listed)]
    return DangerOutput(
        signs=tuple(dict.fromkeys(reading.output() for reading in readings)),
        repaired=parsed.repaired,
        coercions=sum(reading.coercions for reading in readings),
    )


class _SignReading:
    """Reads one sign and counts the values that were written in another way."""

    def __init__(self, place: str, value: object) -> None:
        self.coercions = 0
        self._place = place
        self._fields: dict[str, object] = value if isinstance(value, dict) else {}

    def output(self) -> DangerSign:
        """Return the sign; raises `OutputRejected` for a part that is missing or wrong."""
        sign = DangerSign(
            quote=self._quote(),
            kind=self._choice("kind", tuple(RiskKind)),
            polarity=self._choice("polarity", tuple(RiskPolarity)),
            level=self._choice("level", _LEVELS),
        )
        if sign.polarity is RiskPolarity.DENIED and sign.level is not RiskLevel.LOW:
            raise OutputRejected(
                RejectionCode.RULE_BROKEN,
                f"{self._place}: what is denied is low. Mend its polarity or its level.",
            )
        return sign

    def _quote(self) -> str:
        quote = self._text("quote")
        if not _A_WORD.search(quote):
            raise OutputRejected(
                RejectionCode.EMPTY_FIELD,
                f"{self._place}.quote is empty. Copy the words, or leave the sign out.",
            )
        return words_of(quote)

    def _choice(self, name: str, choices: tuple[ChoiceT, ...]) -> ChoiceT:
        written = self._text(name)
        word = _BETWEEN_WORDS.sub("_", words_of(written)).lower()
        if word not in choices:
            raise OutputRejected(
                RejectionCode.NOT_A_CHOICE,
                f"{self._place}.{name} has to be one of: {', '.join(choices)}.",
            )
        self.coercions += word != written
        return choices[choices.index(word)]

    def _text(self, name: str) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str):
            raise OutputRejected(
                RejectionCode.WRONG_TYPE,
                f"{self._place} has to be an object whose {name} is a string.",
            )
        return value
