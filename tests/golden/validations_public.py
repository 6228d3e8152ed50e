"""Public data sets through the same commands: pipelines of others, and replies of models.

Yields nothing where `TEST_DATA_DIR` is not set. Of what went in no word is kept.
"""

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tests.fakes.exchange import Reply, Request
from tests.fakes.pipeline_replies import ANSWERS, HANDS, step_of
from tests.golden.answer import Answer, Json
from tests.golden.validations_runs import PipelineRuns, good
from tests.golden.validations_ways import Record, answer_of, check, lines_of, masks_of
from tests.golden.ways import run, scratch

_PIPELINES: Final = ("Blackjack", "DrunkenSailor", "NPCDialog")
_GIVEN: Final = ("input", "raw_response", "excerpt")
_STEPS: Final[dict[str, tuple[str, str, list[Record]]]] = {
    "dialogue": (
        "NPCDialog",
        "generate_dialog",
        [
            {
                "greeting": "Well met, traveller.",
                "player_response_hint": "Ask about the road north.",
                "tone": "Warm",
                "dialog": "Sit by the fire and tell me where you came from, friend.",
            },
            {"greeting": "Hm.", "tone": "loud", "dialog": ""},
        ],
    ),
    "scores": (
        "NPCDialog",
        "score_consistency",
        [
            {
                "npc_name": "Ada",
                "mood_name": "calm",
                "topic_name": "weather",
                "final_tone": "COLD",
                "personality_consistency": "0.9",
                "mood_responsiveness": 0.7,
                "personality_reasoning": "It keeps to the same manner throughout.",
                "mood_reasoning": "It answers to the mood that was given.",
            },
            {"npc_name": "Ada", "personality_consistency": 2},
        ],
    ),
    "hands": (
        "Blackjack",
        "verify_hand",
        [{**HANDS}, {**HANDS, "result": "push"}, {**HANDS, "player_final_total": 20}, {}],
    ),
}


def answers() -> Iterator[Answer]:
    """Yield what comes of public pipelines and replies."""
    folder = os.environ.get("TEST_DATA_DIR")
    if not folder:
        return
    with scratch() as place:
        yield from _replies(place, Path(folder) / "llm_output")
        yield from _pipelines(place, Path(folder) / "octobatch")


def _replies(place: Path, data: Path) -> Iterator[Answer]:
    (place / "schema.json").write_text('{"type": "object"}', "utf-8")
    for name, texts in {
        "messy_json": [one["input"] for one in _read(data / "messy_json.jsonl")],
        "tolerant_json_calls": [
            one["args"][0] for one in _read(data / "tolerant_json_calls.jsonl") if one["args"]
        ],
        "thinking_tags": [
            "".join(step["input"] for step in one["steps"]) + '\n{"answer": 1}'
            for one in _read(data / "thinking_tags.jsonl")
        ],
    }.items():
        lines = lines_of(
            [{"unit_id": number, "_raw_text": text} for number, text in enumerate(texts)]
        )
        checked = check(place, "--schema", "schema.json", stdin=lines)
        answer = answer_of(f"public/replies/{name}", place, checked, given=[lines, *texts])
        yield _without_words(answer)


def _read(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _pipelines(place: Path, data: Path) -> Iterator[Answer]:
    linted = run(["lint-config", *(data / one / "config.yaml" for one in _PIPELINES)], place)
    masks = {**masks_of(place), str(data): "<data>"}
    yield Answer(name="public/lint", value=linted.value, masks=masks)
    for name, (pipeline, step, units) in _STEPS.items():
        config = data / pipeline / "config.yaml"
        lines = lines_of([{"unit_id": number, **one} for number, one in enumerate(units)])
        checked = check(place, "--config", config, "--step", step, stdin=lines)
        yield answer_of(f"public/steps/{name}", place, checked, given=[lines])
    few, some = ("--max-units", "4"), ("--max-units", "8")
    for pipeline in _PIPELINES:
        runs = PipelineRuns(place, data / pipeline, "config.yaml")
        name = pipeline.casefold()
        yield _public(runs.case(f"{name}/good", good, few))
        one_at_a_time = ("--concurrency", "1")
        steps: list[tuple[str, ...]] = [
            (*some, "--max-calls", "9", *one_at_a_time),
            (*some, "--resume"),
            ("revalidate", "run", "--json"),
            ("export", "run", "--retry-failed", "--out", "run/queued"),
            (*some, "--resume", "--retry-failed"),
        ]
        scripts = [_often_bad] * 3 + [good]
        yield _public(runs.case(f"{name}/often_bad", _often_bad, *steps, after=scripts))


def _often_bad(request: Request) -> Reply:
    """Answer one of two prompts badly, and some of these always."""
    step = step_of(request) or ""
    prompt = next(one.content for one in request.messages if one.role == "user")
    kind = zlib.crc32(prompt.encode()) % 8
    is_again = any(one.role == "assistant" for one in request.messages)
    bad = {
        0: Reply(text="I would rather not say."),
        1: Reply(text='{"nothing": "of use"}'),
        2: Reply(text=json.dumps({**ANSWERS[step], "result": "push", "tone": "loud"})),
    }
    at_first = {3: Reply(text="")}
    return (bad if is_again else bad | at_first).get(kind, good(request))


def _public(answer: Answer) -> Answer:
    return _without_words(replace(answer, name=f"public/{answer.name}"))


def _without_words(answer: Answer) -> Answer:
    return replace(answer, value=_stripped(answer.value))


def _stripped(value: Any) -> Json:
    if isinstance(value, Mapping):
        return {key: _stripped(one) for key, one in value.items() if key not in _GIVEN}
    if isinstance(value, list):
        return [_stripped(one) for one in value]
    found: Json = value
    return found
