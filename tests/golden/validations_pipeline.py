"""Pipelines of our own: one small and sound, to break in one place, and one with every check."""

import json
from pathlib import Path
from typing import Final

from tests.golden.validations_ways import Record

SOUND: Final = """\
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
SCHEMA: Final[Record] = {
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
TEMPLATE: Final = "Talk about {{ topic }}."

EVERY_CHECK: Final = """\
pipeline:
  steps:
    - {name: all, prompt_template: all.jinja2}
    - {name: strict, prompt_template: all.jinja2}
    - {name: next, prompt_template: all.jinja2}
prompts:
  template_dir: .
  templates: {all: all.jinja2, strict: all.jinja2, next: all.jinja2}
schemas:
  schema_dir: .
  files: {all: all.json, strict: all.json, next: all.json}
api: {}
processing:
  inputs: [topic, threshold, place, limit]
validation:
  all:
    required: [score, tone, place, wounds.arm, "items[*].value"]
    inherited: [place]
    types:
      score: [integer, "null"]
      note: string
      share: number
      is_done: boolean
      wounds: object
      items: array
      "items[*].value": integer
    enums:
      tone: [warm, cold]
      exact: {values: [Warm, 2], match: none}
      "tags[*]": [red, blue]
    ranges:
      score: [0, 3]
      share: {exclusive_min: 0, max: 1}
      "items[*].value": {min: 1}
      wounds.arm: [null, 9]
    protected: [limit]
    coerce: {enum_prefixes: ["shadow "], enum_split: " | "}
    rules:
      - name: above_threshold
        expr: "score >= threshold"
        error: "score {score} is below {threshold}"
        when: "has(threshold) and score is not None"
      - name: sums_up
        expr: "sum(i['value'] for i in items) == score"
        error: "the values {items} do not sum up to {score}"
      - name: below_the_limit
        expr: "score <= limit"
        error: "{score} is beyond {limit}"
        when: "has(limit)"
      - name: has_a_note
        expr: "has(note)"
        error: "there is no note"
        level: warning
      - name: divides
        expr: "6 / wounds['arm'] > 0"
        level: warning
        error: "the arm is {wounds.arm}"
      - name: leg
        expr: "wounds['leg'] < 5"
        when: "'leg' in wounds"
        error: "the leg"
      - name: no_truth
        expr: "note"
        when: "has(note) and note == 'truth'"
        error: "never"
      - name: first_answer
        expr: "meta['retry_count'] < 2"
        error: "asked {retry_count} times"
        when: "'retry_count' in meta"
  strict:
    coerce: {profile: strict}
    types: {score: integer}
  next:
    required: [score]
    inherited: [score]
    rules:
      - {name: known, expr: "inp['topic'] == 'sleep'", error: "the topic is {topic}"}
"""
_EVERY_SCHEMA: Final[Record] = {
    "properties": {
        **dict.fromkeys(("tone", "exact", "wounds", "items", "tags"), True),
        "score": {"type": ["integer", "null"]},
        "note": {"type": "string"},
        "share": {"type": "number"},
        "limit": {"type": "integer"},
        "is_done": {"type": "boolean"},
    }
}
GOOD: Final[Record] = {
    "score": 3,
    "tone": "warm",
    "wounds": {"arm": 2},
    "items": [{"value": 1}, {"value": 2}],
    "note": "fine",
}
ANSWERS: Final[dict[str, Record]] = {
    "good": {},
    "coerced": {"score": "3", "tone": "Shadow WARM | loud", "tags": ["RED", " blue "]},
    "exact": {"exact": "Warm"},
    "inexact": {"exact": "warm"},
    "number_in_exact": {"exact": "2"},
    "null": {"score": None, "tone": None},
    "no_arm": {"wounds": {}},
    "wounds_are_text": {"wounds": "two"},
    "items_are_text": {"items": "none"},
    "value_missing": {"items": [{"value": 1}, {}, {"value": 2}]},
    "value_too_low": {"items": [{"value": 0}, {"value": 3}]},
    "too_high": {"score": 4, "items": [{"value": 4}]},
    "share_zero": {"share": 0},
    "share_fine": {"share": "0.5"},
    "share_above": {"share": 1.01},
    "arm_zero": {"wounds": {"arm": 0}},
    "arm_ten": {"wounds": {"arm": 10}},
    "leg": {"wounds": {"arm": 1, "leg": 9}},
    "leg_is_text": {"wounds": {"arm": 1, "leg": "9"}},
    "sum": {"items": [{"value": 5}]},
    "no_truth": {"note": "truth"},
    "beyond": {"limit": 99},
    "below": {"score": 1, "items": [{"value": 1}]},
    "truth_as_text": {"is_done": "yes"},
    "again": {"retry_count": 2},
    "tags": {"tags": ["green", "RED"]},
    "elsewhere": {"place": None},
}
"""What an answer has beside, or in place of, what a good one has."""


def changed(*changes: tuple[str, str]) -> str:
    """Return the sound pipeline with each change made at the one place where it can be."""
    text = SOUND
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def write(
    folder: Path,
    pipeline: str = SOUND,
    *,
    schema: Record | str = SCHEMA,
    template: str | None = TEMPLATE,
) -> Path:
    """Write a pipeline with its schema and template; return the pipeline's file."""
    for name in ("schemas", "templates"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    content = schema if isinstance(schema, str) else json.dumps(schema)
    (folder / "schemas" / "rate.json").write_text(content, "utf-8")
    if template is not None:
        (folder / "templates" / "rate.jinja2").write_text(template, "utf-8")
    (folder / "pipeline.yaml").write_text(pipeline, "utf-8")
    return folder / "pipeline.yaml"


def write_every_check(folder: Path) -> None:
    """Write the pipeline with every check."""
    (folder / "pipeline.yaml").write_text(EVERY_CHECK, "utf-8")
    (folder / "all.json").write_text(json.dumps(_EVERY_SCHEMA), "utf-8")
    (folder / "all.jinja2").write_text("Rate {{ topic }}.", "utf-8")
