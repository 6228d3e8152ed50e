"""Make the contract's schemas from the output models, and its templates from the prompts."""

import json
import re
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from ai_psychiatrist.agents.contracts.contract import contract_folder
from ai_psychiatrist.agents.output_models import (
    DangerOutput,
    EvidenceOutput,
    JudgeMetricOutput,
    JudgesOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.agents.prompts.tasks import TASKS

_MODELS: Final[Mapping[str, type[BaseModel]]] = {
    "qualitative": QualitativeOutput,
    "evidence": EvidenceOutput,
    "quantitative": QuantitativeOutput,
    "judge": JudgeMetricOutput,
    "judges": JudgesOutput,
    "meta_review": MetaReviewOutput,
    "danger": DangerOutput,
}
"""Answers of agents. `item.json` and `assessment.json` are no agent's and written by hand."""
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
