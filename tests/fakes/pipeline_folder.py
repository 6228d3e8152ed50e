"""A small sound pipeline on disk, for tests to break in one place."""

import json
from pathlib import Path

from ai_psychiatrist.pipelines.pipeline_run import PipelineRun
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import lint_pipeline, load_pipeline
from ai_psychiatrist.validation.config.problem import LintProblem

PIPELINE = """\
pipeline:
  steps:
    - name: rate
      prompt_template: rate.jinja2
prompts:
  templates:
    rate: rate.jinja2
schemas:
  files:
    rate: rate.json
api:
  retry:
    max_attempts: 2
processing:
  inputs: [topic, threshold]
validation:
  rate:
    required: [score, tone]
    types:
      score: integer
    enums:
      tone: [warm, cold]
    ranges:
      score: [0, 3]
    rules:
      - name: above_threshold
        expr: "score >= threshold"
        error: "score {score} is below {threshold}"
        level: error
        when: "has(threshold)"
"""
SCHEMA: dict[str, object] = {
    "type": "object",
    "required": ["score", "tone"],
    "properties": {
        "score": {"type": "integer"},
        "tone": {"type": "string", "enum": ["warm", "cold"]},
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"value": {"type": "integer"}}},
        },
    },
}
TEMPLATE = "Talk about {{ topic }}."


def written(
    folder: Path,
    pipeline: str = PIPELINE,
    *,
    schema: str | dict[str, object] | None = None,
    template: str | None = TEMPLATE,
) -> Path:
    """Write a pipeline with its schema and template, and return the pipeline file."""
    for name in ("schemas", "templates"):
        (folder / name).mkdir(exist_ok=True)
    content = (
        schema if isinstance(schema, str) else json.dumps(SCHEMA if schema is None else schema)
    )
    (folder / "schemas" / "rate.json").write_text(content, "utf-8")
    if template is not None:
        (folder / "templates" / "rate.jinja2").write_text(template, "utf-8")
    path = folder / "pipeline.yaml"
    path.write_text(pipeline, "utf-8")
    return path


def changed(old: str, new: str) -> str:
    """Return the sound pipeline with one place changed, which has to be there once."""
    assert PIPELINE.count(old) == 1, old
    return PIPELINE.replace(old, new)


def declared(ledger: RunStore, folder: Path) -> PipelineRun:
    """Return a run with the small pipeline, whose units have two attempts."""
    folder.mkdir()
    text = changed("processing:\n", "processing:\n  validation_retry: {max_attempts: 2}\n")
    return PipelineRun(store=ledger, config=load_pipeline(written(folder, text)))


def found(path: Path) -> list[tuple[str, str, str]]:
    """Return level, code and place of every problem."""
    return [(problem.level.value, problem.code, problem.where) for problem in lint_pipeline(path)]


def only(path: Path) -> LintProblem:
    """Return the one problem that there is."""
    problems = lint_pipeline(path)
    assert len(problems) == 1, problems
    return problems[0]
