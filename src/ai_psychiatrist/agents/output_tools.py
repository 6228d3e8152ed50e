"""The schemas that servers hold the agents' replies to, where they can.

The narrative has none: it is written freely, between tags. All texts are bounded, since a reply
that is held to a schema can only end where the schema lets it. Explanations come before what they
explain.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from ai_psychiatrist.agents.prompts.danger import DANGER_FORMAT
from ai_psychiatrist.agents.prompts.judge import (
    JUDGE_FORMAT,
    JUDGE_SCHEMA_FORMAT,
    TOGETHER_FORMAT,
    TOGETHER_SCHEMA_FORMAT,
)
from ai_psychiatrist.agents.prompts.meta_review import (
    META_REVIEW_FORMAT,
    META_REVIEW_SCHEMA_FORMAT,
)
from ai_psychiatrist.agents.prompts.quantitative import (
    EVIDENCE_FORMAT,
    SCORING_FORMAT,
    SCORING_SCHEMA_FORMAT,
)
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.llm.replies import OutputTool

Schema: TypeAlias = Mapping[str, object]

_MOST_QUOTES: Final = 6
"""Of one item, as the tasks say."""
_MOST_SIGNS: Final = 30
_LONGEST_QUOTE: Final = 400
_LONGEST_EXPLANATION: Final = 1_200


def _text(longest: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _whole_number(low: int, high: int) -> Schema:
    # As a list: few servers know bounds of numbers, all know lists.
    return {"type": "integer", "enum": list(range(low, high + 1))}


def _one_of(values: Sequence[StrEnum]) -> Schema:
    return {"type": "string", "enum": [one.value for one in values]}


def _list_of(entry: Schema, most: int) -> Schema:
    return {"type": "array", "items": entry, "maxItems": most}


def _object(fields: Schema) -> Schema:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


_QUOTES: Final = _list_of(_text(_LONGEST_QUOTE), _MOST_QUOTES)
_NOT_AVAILABLE: Final = {"type": "string", "enum": ["N/A"]}
_ITEM_SCORE: Final = _object(
    {
        "evidence": _QUOTES,
        "reason": _text(_LONGEST_EXPLANATION),
        "score": {"anyOf": [_whole_number(0, 3), _NOT_AVAILABLE]},
        "confidence": _whole_number(1, 5),
    }
)
_JUDGEMENT: Final = _object(
    {"explanation": _text(_LONGEST_EXPLANATION), "score": _whole_number(1, 5)}
)
_SIGN: Final = _object(
    {
        "quote": _text(_LONGEST_QUOTE),
        "kind": _one_of(list(RiskKind)),
        "polarity": _one_of(list(RiskPolarity)),
        "level": _one_of([RiskLevel.HIGH, RiskLevel.MODERATE, RiskLevel.LOW]),
    }
)

EVIDENCE_TOOL: Final = OutputTool(
    name="evidence",
    description="The participant's own words for each item.",
    schema=_object(dict.fromkeys(PHQ8_DOMAIN_KEYS, _QUOTES)),
    text_format=EVIDENCE_FORMAT,
    schema_format=EVIDENCE_FORMAT,
)
SCORING_TOOL: Final = OutputTool(
    name="scores",
    description="A score for each item, with the words that it is given for.",
    schema=_object(dict.fromkeys(PHQ8_DOMAIN_KEYS, _ITEM_SCORE)),
    text_format=SCORING_FORMAT,
    schema_format=SCORING_SCHEMA_FORMAT,
)
JUDGE_TOOL: Final = OutputTool(
    name="judgement",
    description="What was found by one metric, and the score for it.",
    schema=_JUDGEMENT,
    text_format=JUDGE_FORMAT,
    schema_format=JUDGE_SCHEMA_FORMAT,
)
JUDGES_TOOL: Final = OutputTool(
    name="judgements",
    description="What was found by each metric, and the score for it.",
    schema=_object({metric.value: _JUDGEMENT for metric in Metric}),
    text_format=TOGETHER_FORMAT,
    schema_format=TOGETHER_SCHEMA_FORMAT,
)
META_REVIEW_TOOL: Final = OutputTool(
    name="review",
    description="The severity that transcript, findings and scores give together.",
    schema=_object({"explanation": _text(_LONGEST_EXPLANATION), "severity": _whole_number(0, 4)}),
    text_format=META_REVIEW_FORMAT,
    schema_format=META_REVIEW_SCHEMA_FORMAT,
)
DANGER_TOOL: Final = OutputTool(
    name="signs",
    description="The words that say that someone may come to harm.",
    schema=_object({"signs": _list_of(_SIGN, _MOST_SIGNS)}),
    text_format=DANGER_FORMAT,
    schema_format=DANGER_FORMAT,
)
