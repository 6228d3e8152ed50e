"""What is sent to models: whole bodies of requests over both wires, word for word."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.fakes.exchange import Request, Script
from tests.fakes.faults import FAULTS, first_attempts, only_for
from tests.fakes.replies import QUALITATIVE_TASKS, good_replies
from tests.golden.answer import Answer, Json
from tests.golden.scripted_replies import bettered
from tests.golden.scripted_way import EVERY_DAY, Case, asked_of

_BOUNDARY: Final = re.compile(r"<(?:transcript|[a-z]+)-([0-9a-f]{8,})>")
_SCORES: Final = ("evidence", "scoring")
_SENT_HEADERS: Final = ("authorization", "content-type")


def prompt_answers(references: Mapping[str, str], folder: Path) -> Iterator[Answer]:
    """Yield the requests of assessments: those that differ from a plain one by some tasks only."""
    plain = {"PYDANTIC_AI_ENABLED": "false"}
    refused = first_attempts(1, FAULTS["prose"])
    unsaid = only_for(QUALITATIVE_TASKS, FAULTS["hallucinated_quotes"])
    cases: Mapping[str, tuple[Case, tuple[str, ...]]] = {
        "openai": (Case(name="openai"), ()),
        "ollama": (Case(name="ollama", wire="ollama"), ()),
        "openai_plain": (Case(name="openai_plain", settings=plain), _SCORES),
        "ollama_plain": (Case(name="ollama_plain", wire="ollama", settings=plain), _SCORES),
        "refused": (Case(name="refused", script=refused), _SCORES),
        "refined": (Case(name="refined", script=_refined()), ("qualitative_refine",)),
        "judged_at_once": (
            Case(name="judged_at_once", settings={"JUDGE_CALLS": "one"}),
            ("judges",),
        ),
        "verbatim": (
            Case(name="verbatim", script=unsaid, settings={"QUALITATIVE_VALIDATE_QUOTES": "true"}),
            QUALITATIVE_TASKS,
        ),
        "transcript_is_data": (
            Case(name="transcript_is_data", settings={"QUALITATIVE_DELIMIT_TRANSCRIPT": "true"}),
            _SCORES,
        ),
        "tokens": (
            Case(name="tokens", settings={"BELIEF_SOURCES": "tokens"}),
            ("belief_tokens",),
        ),
        "descriptions": (
            Case(name="descriptions", options={"mode": "descriptions_only"}),
            ("scoring",),
        ),
        "few_shot": (
            Case(
                name="few_shot", text=EVERY_DAY, options={"mode": "few_shot"}, settings=references
            ),
            ("scoring",),
        ),
        "settings": (
            Case(name="settings", wire="ollama", settings=_OTHER_SETTINGS),
            ("meta_review",),
        ),
        "settings_openai": (
            Case(name="settings_openai", settings=_OTHER_SETTINGS),
            ("meta_review",),
        ),
    }
    for name, (case, tasks) in cases.items():
        requests = asked_of(case, folder)
        shown = [_sent(one) for one in requests if not tasks or one.task in tasks]
        yield Answer(name=f"prompts/{name}", value=sorted(shown, key=str), given=[case.text])


_OTHER_SETTINGS: Final = {
    "MODEL_TEMPERATURE": "0.3",
    "MODEL_MAX_OUTPUT_TOKENS": "512",
    "OLLAMA_NUM_CTX": "32768",
    "DANGER_MODEL": "off",
}


def _refined() -> Script:
    judged: Script = bettered("2", "5")
    return only_for(QUALITATIVE_TASKS, good_replies(), otherwise=judged)


def _sent(request: Request) -> dict[str, Json]:
    body: dict[str, Any] = dict(request.body)
    body["messages"] = [
        {**one, "content": _lines(one["content"], request.transcript)}
        for one in body.pop("messages")
    ]
    headers = {key: request.headers.get(key) for key in _SENT_HEADERS}
    return {"task": request.task, "attempt": request.attempt, "headers": headers, "body": body}


def _lines(content: Json, transcript: str) -> Json:
    """Return a text line by line, the transcript and the name of its marks left out."""
    if not isinstance(content, str):
        return content
    for mark in _BOUNDARY.findall(content):
        content = content.replace(mark, "<boundary>")
    return content.replace(transcript.strip(), "<the-transcript>").splitlines()
