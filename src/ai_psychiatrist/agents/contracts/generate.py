"""Make the contract's schemas from the output models, and its templates from the prompts."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from ai_psychiatrist.agents.contracts.contract import contract_folder
from ai_psychiatrist.agents.contracts.models import AssessmentResult, ItemAnswer
from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    JudgeMetricOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.agents.prompts import judge, meta_review, qualitative, quantitative
from ai_psychiatrist.domain.assessment import Metric

_MODELS: Final[Mapping[str, type[BaseModel]]] = {
    "qualitative": QualitativeOutput,
    "evidence": EvidenceOutput,
    "quantitative": QuantitativeOutput,
    "item": ItemAnswer,
    "judge": JudgeMetricOutput,
    "meta_review": MetaReviewOutput,
    "assessment": AssessmentResult,
}
_ASSESSMENT: Final = """\
Task: assessment

Assess the interview by the eight items of the PHQ-8. Give each item a score of 0 to 3, or the
status na with the reason why it is unknown. While an item is unknown, total and band are null.
"""
_TASKS: Final[Mapping[str, str]] = {
    "qualitative": qualitative.ASSESS,
    "evidence": quantitative.EVIDENCE,
    "quantitative": quantitative.SCORING,
    "judge": judge.JUDGE[Metric.COHERENCE],
    "meta_review": meta_review.META_REVIEW,
    "assessment": _ASSESSMENT,
}
_BLOCK: Final = re.compile(r"\{(\w+)\}")


def generated_files() -> dict[str, str]:
    """Return path below the contract's folder → content."""
    schemas = {f"schemas/{name}.json": _schema(model) for name, model in _MODELS.items()}
    templates = {f"templates/{name}.jinja2": _template(task) for name, task in _TASKS.items()}
    return schemas | templates


def write_generated(folder: Path) -> None:
    """Write the generated files below a folder."""
    for name, content in generated_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


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
    write_generated(contract_folder())
