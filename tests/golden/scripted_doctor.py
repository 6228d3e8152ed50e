"""What `doctor` says of models that work, that are not there, and that refuse."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServerThread
from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.ways import Ended, model_server, run, scratch

_NOBODY: Final = "127.0.0.1:1"
_OF_THIS_MACHINE: Final = ("versions", "extras", "state folder")
_SPEED: Final = re.compile(r"after [\d.]+ s(?:, [\d.]+ tokens a second with the wait)?")
_ROW: Final = re.compile(r"^  (?:ok|warn|fail|skip)\s{2,}(\w+(?: \w+)*)")
_FAULTY: Final = (
    *("prose", "empty", "html", "no_choices", "null_content", "error_with_200", "reset"),
    *("status_400", "status_401", "status_404", "status_429", "status_500", "context_exceeded"),
)


def doctor_answers() -> Iterator[Answer]:
    """Yield the findings, for people and as JSON."""
    for wire in ("openai", "ollama"):
        yield from _of_server(f"able/{wire}", _able, wire, is_shown=True)
        for name in _FAULTY:
            is_shown = name in ("prose", "status_401", "status_404")
            yield from _of_server(f"{name}/{wire}", FAULTS[name], wire, is_shown=is_shown)
        yield from _of_lists(wire)
    unready = {"MODEL_DEFAULT": "ollama:fake-model", "OLLAMA_HOST": _NOBODY}
    unready_openai = {
        "MODEL_DEFAULT": "openai-chat:fake-model",
        "OPENAI_BASE_URL": f"http://{_NOBODY}/v1",
    }
    settings: Mapping[str, Mapping[str, str]] = {
        "baseline": {},
        "crisis_line": {"RISK_CRISIS_RESOURCES": "Call 000, day and night."},
        "reader": {"READER_ENABLED": "true"},
        "dead/ollama": unready,
        "dead/openai": unready_openai,
        "dead_and_fallback": {**unready, "MODEL_FALLBACKS": "baseline", "DANGER_MODEL": "off"},
        "several_models": {**unready, "MODEL_JUDGE_MODEL": "baseline", "DANGER_MODEL": "ollama:b"},
        "references_are_missing": {"REFERENCES_DIR": "nowhere"},
        "misspelt": {"MODEL_DEFALT": "baseline"},
        "out_of_range": {"MODEL_MAX_CALLS": "0"},
        "unknown_provider": {"MODEL_DEFAULT": "nobody:model"},
        "no_key": {"MODEL_DEFAULT": "openai:gpt-5"},
        "state_is_a_file": {"DATA_STATE_DIR": "/dev/null"},
    }
    for name, given in settings.items():
        with scratch() as folder:
            yield from _found(name, [], given, folder)
    for option, named in {"baseline": "baseline", "empty": "", "unknown": "nobody:model"}.items():
        with scratch() as folder:
            yield from _found(f"option/{option}", ["--model", named], unready, folder)


def _able(request: Request) -> Reply:
    """Answer as a model that keeps to schemas and tells how likely its tokens are."""
    is_schema = "format" in request.body or "response_format" in request.body
    return Reply(text='{"ready": true}' if is_schema else "ready", tokens={"ready": 0.9, "no": 0.1})


def _of_server(name: str, script: Script, wire: str, *, is_shown: bool) -> Iterator[Answer]:
    with scratch() as folder, model_server(script, wire=wire) as (_, named):
        yield from _found(name, [], named, folder, is_shown=is_shown)


def _of_lists(wire: str) -> Iterator[Answer]:
    """Yield findings of servers that list other models, none, or refuse to list them."""
    kinds: Mapping[str, Mapping[str, Any]] = {
        "others_listed": {"models": ["other-model"]},
        "none_listed": {"models": []},
        "list_refused": {"list_status": 401},
        "list_broken": {"list_status": 500},
    }
    for name, kind in kinds.items():
        with scratch() as folder, ModelServerThread(_able, **kind) as server:
            named = {"OLLAMA_HOST": server.url, "MODEL_DEFAULT": "ollama:fake-model"}
            if wire == "openai":
                named = {
                    "OPENAI_BASE_URL": f"{server.url}/v1",
                    "MODEL_DEFAULT": "openai-chat:fake-model",
                }
            yield from _found(f"{name}/{wire}", [], named, folder, is_shown=False)


def _found(
    name: str,
    arguments: Sequence[str],
    settings: Mapping[str, str],
    folder: Path,
    *,
    is_shown: bool = True,
) -> Iterator[Answer]:
    ended = run(["doctor", "--json", *arguments], folder, settings)
    yield _answer(f"doctor/{name}", ended, folder, _as_json(ended))
    if is_shown:
        ended = run(["doctor", *arguments], folder, settings)
        yield _answer(f"doctor/{name}_for_people", ended, folder, _for_people(ended))


def _answer(name: str, ended: Ended, folder: Path, out: Json) -> Answer:
    value: Json = {"exit": ended.code, "out": out, "err": text_answer(ended.err)}
    return Answer(
        name=name,
        value=value,
        masks=folder_masks(folder),
        times=("seconds", "tokens_per_second"),
    )


def _as_json(ended: Ended) -> Json:
    if not ended.out:
        return []
    found: dict[str, Any] = json.loads(ended.out)
    findings = [
        {**one, "words": _SPEED.sub("after <time>", one["words"])}
        for one in found["findings"]
        if not _is_of_this_machine(one["check"], one["level"])
    ]
    return {"is_fine": found["is_fine"], "findings": findings}


def _for_people(ended: Ended) -> Json:
    lines: list[Json] = []
    is_left_out = False
    for line in text_answer(ended.out):
        if row := _ROW.match(line):
            is_left_out = _is_of_this_machine(row[1], line.split()[0])
        elif not line.startswith("      "):
            is_left_out = False
        if not is_left_out:
            lines.append(_SPEED.sub("after <time>", line))
    return lines


def _is_of_this_machine(check: str, level: str) -> bool:
    """Whether a finding names versions or the room on a disk; a failure is told in any case."""
    return check in _OF_THIS_MACHINE and level != "fail"
