"""What callers get where models fail: wholly, in one part, for a while, or too late."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import fault, first_attempts, only_for
from tests.fakes.replies import JUDGE_TASKS, danger_text, good_replies
from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import DANGER, FINDINGS, FULL, LONG, SCORES, SHORT
from tests.golden.http_caller import Talk, calling, in_loop, together
from tests.golden.http_showing import shown
from tests.golden.ways import model_server

_QUOTE: Final = "I sleep fine, that's never been a problem."
_ALL_FAIL: Final = (
    *("status_400", "status_401", "status_404", "status_429", "status_500"),
    *("empty", "prose", "html", "no_choices", "error_with_200", "null_content"),
    *("reset", "context_exceeded", "truncated", "hallucinated_quotes"),
)
_PARTS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "findings": (("qualitative",), (FULL, FINDINGS)),
    "evidence": (("evidence",), (FULL, SCORES)),
    "scoring": (("scoring",), (FULL, SCORES)),
    "judges": (JUDGE_TASKS, (FULL,)),
    "one-judge": (JUDGE_TASKS[:1], (FULL,)),
    "meta-review": (("meta_review",), (FULL,)),
    "danger": (("danger",), (FULL, SCORES, FINDINGS)),
}
"""What fails, and which routes are asked then."""


@in_loop
async def models(folder: Path) -> list[Answer]:
    """Return the cases."""
    cases: list[Answer] = []
    await _good(folder, cases)
    await _faults(folder, cases)
    one_place = {FULL: _finished}
    await _asked(folder, cases, "at-first", first_attempts(1, fault("prose")), _EVERY)
    await together(folder, cases, *(partial(_late, name) for name in _LATE))
    await _asked(folder, cases, "few-calls", good_replies(), one_place, MODEL_MAX_CALLS="3")
    plain = {"PYDANTIC_AI_ENABLED": "false"}
    await _asked(folder, cases, "plain", good_replies(), _EVERY, **plain)
    await _asked(folder, cases, "plain-fails", fault("status_500"), one_place, **plain)
    await _other_places(folder, cases)
    return cases


_LATE: Final[Mapping[str, tuple[tuple[str, ...], dict[str, str]]]] = {
    "late": ((), {"API_REQUEST_TIMEOUT_SECONDS": "4"}),
    "late-part": (("meta_review",), {"API_REQUEST_TIMEOUT_SECONDS": "4"}),
    "late-calls": ((), {"PYDANTIC_AI_TIMEOUT_SECONDS": "1.5", "PYDANTIC_AI_RETRIES": "0"}),
}
"""Which agents are never answered, and how long that is waited for."""


async def _late(name: str, folder: Path, cases: list[Answer]) -> None:
    """Keep what is answered where a model does not answer in time."""
    tasks, settings = _LATE[name]
    script = fault("hang", tasks=tasks)
    await _asked(folder, cases, name, script, {FULL: _finished}, **settings)


class Switched:
    """A script that can be changed while its server runs."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def __call__(self, request: Request) -> Reply:
        """Answer as the script of the moment does."""
        return self.script(request)


async def _faults(folder: Path, cases: list[Answer]) -> None:
    """Keep what comes of each fault, of all agents and of one."""
    switched = Switched(good_replies())
    body = {"json": {"transcript_text": SHORT}}
    with model_server(switched) as (_, named):
        async with calling(folder, named) as client:
            talk = Talk(client=client, name="models", given=[SHORT], cases=cases)
            for name in _ALL_FAIL:
                switched.script = fault(name)
                await talk.ask(f"all/{name}", "POST", FULL, show=_finished, **body)
            for name, (tasks, places) in _PARTS.items():
                switched.script = fault("status_500", tasks=tasks)
                for place in places:
                    case = f"part/{name}/{place.rpartition('/')[2]}"
                    await talk.ask(case, "POST", place, show=_finished, **body)
                switched.script = fault("prose", tasks=tasks)
                await talk.ask(f"words/{name}", "POST", FULL, show=_finished, **body)


async def _good(folder: Path, cases: list[Answer]) -> None:
    """Keep a result of a scripted model as a whole, and the danger that it finds."""
    script = only_for(["danger"], lambda _: Reply(text=danger_text(_QUOTE)))
    with model_server(script) as (_, named):
        async with calling(folder, named) as client:
            talk = Talk(client=client, name="models/good", given=[SHORT, LONG], cases=cases)
            await talk.ask("full", "POST", FULL, json={"transcript_text": SHORT})
            sent = {"transcript_text": SHORT}
            await talk.ask("one-call", "POST", FINDINGS, json=sent, show=_finished)
    one = {"JUDGE_CALLS": "one", "DANGER_MODEL": "off", "FEEDBACK_SCORE_THRESHOLD": "4"}
    await _asked(folder, cases, "refined", good_replies(), {FULL: _finished}, **one)
    told = {"RISK_CRISIS_RESOURCES": "Call 000, the line of this house."}
    await _asked(folder, cases, "resources", good_replies(), {FULL: _finished}, DANGER, **told)


async def _asked(
    folder: Path,
    cases: list[Answer],
    name: str,
    script: Script,
    places: Mapping[str, Any],
    text: str = SHORT,
    **settings: str,
) -> None:
    """Keep what the routes answer with a script and settings."""
    with model_server(script) as (_, named):
        async with calling(folder, named | settings) as client:
            talk = Talk(client=client, name=f"models/{name}", given=[text], cases=cases)
            for place, show in places.items():
                case = place.rpartition("/")[2]
                await talk.ask(case, "POST", place, json={"transcript_text": text}, show=show)


def _finished(response: httpx.Response) -> Json:
    """Show what came out and how often each agent was asked; the whole of a problem."""
    whole = shown(response)
    if response.is_error or not isinstance(whole, Mapping):
        return whole
    told = response.json()
    scores = told.get("quantitative", told if "items" in told else None)
    asked = Counter(
        "|".join(str(one[key]) for key in ("agent", "model", "path", "outcome", "code"))
        for one in told["attempts"]
    )
    parts = {
        "scores": None if scores is None else [scores["total_score"], scores["accepted"]],
        "findings": (told.get("qualitative") or told).get("overall", "none"),
        "judged": (told.get("evaluation") or {}).get("average_score"),
        "severity": (told.get("meta_review") or {}).get("severity"),
    }
    return {
        "http": response.status_code,
        "status": told["status"],
        **parts,
        "failures": told["failures"],
        "danger": [told["risk"]["level"], told["risk"]["model"]],
        "resources": told["risk"]["resources"],
        "attempts": dict(sorted(asked.items())),
    }


_EVERY: Final = dict.fromkeys((FULL, SCORES, FINDINGS), _finished)


async def _other_places(folder: Path, cases: list[Answer]) -> None:
    """Keep what is answered over Ollama, by the next model of a chain, and where nobody listens."""
    body: dict[str, Any] = {"json": {"transcript_text": SHORT}}
    for name, script in (("good", good_replies()), ("fails", fault("status_404"))):
        with model_server(script, wire="ollama") as (_, named):
            async with calling(folder, named) as client:
                talk = Talk(client=client, name=f"models/ollama-{name}", given=[SHORT], cases=cases)
                await talk.ask("full", "POST", FULL, show=_finished, **body)
    dead = {"OLLAMA_HOST": "http://127.0.0.1:9"}
    with model_server(good_replies()) as (_, named):
        chain = {"MODEL_FALLBACKS": named["MODEL_DEFAULT"], "MODEL_DEFAULT": "ollama:away"}
        async with calling(folder, named | chain | dead) as client:
            talk = Talk(client=client, name="models/fallback", given=[SHORT], cases=cases)
            await talk.ask("full", "POST", FULL, show=_finished, **body)
            await talk.ask("health", "GET", "/health")
    settings = dead | {"MODEL_DEFAULT": "ollama:away", "MODEL_BUSY_WAITS_SECONDS": "0"}
    async with calling(folder, settings) as client:
        talk = Talk(client=client, name="models/away", given=[SHORT], cases=cases)
        for place in (FULL, SCORES, FINDINGS, "/v1/assessments"):
            await talk.ask(place.rpartition("/")[2], "POST", place, **body)
        danger = {"transcript_text": DANGER}
        await talk.ask("danger", "POST", FULL, json=danger)
    mixed = dead | {"MODEL_QUALITATIVE_MODEL": "ollama:away", "MODEL_DEFAULT": "baseline"}
    async with calling(folder, mixed) as client:
        talk = Talk(client=client, name="models/one-away", given=[SHORT], cases=cases)
        for place in (FULL, SCORES, FINDINGS):
            await talk.ask(place.rpartition("/")[2], "POST", place, show=_finished, **body)
