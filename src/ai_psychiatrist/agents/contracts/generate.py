"""Make the contract's schemas from the output models, and its templates from the prompts."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ai_psychiatrist.agents.contracts.contract import contract_folder
from ai_psychiatrist.agents.output_models import (
    DangerOutput,
    EvidenceOutput,
    JudgeMetricOutput,
    JudgesOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
    Scale3,
    Scale4,
    Scale5,
    Words,
)
from ai_psychiatrist.agents.prompts.tasks import TASKS
from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Item, UnknownReason

Total = Annotated[int, Field(strict=True, ge=0, le=MAX_TOTAL_SCORE)]
ItemStatus = Literal["scored", "na"]


class _Contract(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ItemAnswer(_Contract):
    """What a scoring reply says about one item."""

    item: Item
    status: ItemStatus
    score: Scale3 | None
    evidence: tuple[Words, ...]
    reason: str
    confidence: Scale5 | None


class ItemResult(_Contract):
    """One item of a whole assessment."""

    item: Item
    status: ItemStatus
    score: Scale3 | None
    unknown_reason: UnknownReason | None


class AssessmentResult(_Contract):
    """Eight items, the range of their total, and total and band where no item is unknown."""

    items: tuple[ItemResult, ...]
    total: Total | None
    total_min: Total
    total_max: Total
    severity: Scale4 | None


_MODELS: Final[Mapping[str, type[BaseModel]]] = {
    "qualitative": QualitativeOutput,
    "evidence": EvidenceOutput,
    "quantitative": QuantitativeOutput,
    "item": ItemAnswer,
    "judge": JudgeMetricOutput,
    "judges": JudgesOutput,
    "meta_review": MetaReviewOutput,
    "danger": DangerOutput,
    "assessment": AssessmentResult,
}
_ASSESSMENT: Final = """\
Task: assessment

Assess the interview by the eight items of the PHQ-8. Give each item a score of 0 to 3, or the
status na with the reason why it is unknown. While an item is unknown, total and band are null.
"""
_TASKS: Final[Mapping[str, str]] = {
    **{
        name: TASKS[name]
        for name in (
            "qualitative",
            "evidence",
            "quantitative",
            "judges",
            "meta_review",
            "danger",
        )
    },
    "judge": TASKS["judge_coherence"],
    "assessment": _ASSESSMENT,
}
_BLOCK: Final = re.compile(r"\{(\w+)\}")


def generated_files() -> dict[str, str]:
    """Return path below the contract's folder → content."""
    schemas = {f"schemas/{name}.json": _schema(model) for name, model in _MODELS.items()}
    templates = {f"templates/{name}.jinja2": _template(task) for name, task in _TASKS.items()}
    return schemas | templates


def _schema(model: type[BaseModel]) -> str:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model.model_json_schema(),
    }
    return f"{json.dumps(schema, indent=2, ensure_ascii=False)}\n"


def _template(task: str) -> str:
    """Write a task as a template: its blocks become variables, after the transcript's own."""
    text = task.replace("{{", "\0").replace("}}", "\1")
    text = _BLOCK.sub(r"{{ \1 }}", text).replace("\0", "{").replace("\1", "}")
    return f"{{{{ transcript }}}}\n\n{text}"


if __name__ == "__main__":
    for name, content in generated_files().items():
        (contract_folder() / name).write_text(content, encoding="utf-8")
