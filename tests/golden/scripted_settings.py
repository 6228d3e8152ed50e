"""Settings that change which models are asked, how often, and what counts of their replies."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import FAULTS, fault, first_attempts, only_for
from tests.fakes.replies import (
    JUDGE_TASKS,
    QUALITATIVE_TASKS,
    good_replies,
    judge_text,
    judges_text,
    qualitative_text,
)
from tests.golden.scripted_replies import always, bettered
from tests.golden.scripted_way import DANGER, EVERY_DAY, SHORT, Case

_SECOND: Final = {"MODEL_FALLBACKS": "openai-chat:second-model"}
_TO_BASELINE: Final = {"MODEL_FALLBACKS": "baseline"}
_PLAIN: Final = {"PYDANTIC_AI_ENABLED": "false"}
_NO_RETRIES: Final = {"PYDANTIC_AI_RETRIES": "0"}
_ONE_CALL: Final = {"JUDGE_CALLS": "one"}
_CHECKED: Final = {"QUALITATIVE_VALIDATE_QUOTES": "true"}
_UNCHECKED: Final = {"QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_ENABLED": "false"}
_FUZZY: Final = {"QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_MODE": "fuzzy"}
_ALL_REFUSED: Final = {"QUANTITATIVE_EVIDENCE_QUOTE_FAIL_ON_ALL_REJECTED": "true"}
_SCORED: Final = {
    "DANGER_MODEL": "off",
    "MODEL_QUALITATIVE_MODEL": "baseline",
    "MODEL_JUDGE_MODEL": "baseline",
    "MODEL_META_REVIEW_MODEL": "baseline",
}
_DECIDED: Final = {
    "BELIEF_SOURCES": "decision",
    "BELIEF_DECISION_MODEL": "decider",
    "BELIEF_DECISION_URL": "{server}",
    **_SCORED,
}
_TIMEOUT: Final = {"PYDANTIC_AI_TIMEOUT_SECONDS": "1.5"}
_SOON: Final = {"PYDANTIC_AI_TIMEOUT_SECONDS": "2"}


def setting_cases() -> Iterator[Case]:
    """Yield assessments under settings that are not the defaults."""
    yield from _of_one_task()
    yield from _fallbacks()
    yield from _refined()
    yield from _limited()
    yield from _quotes()
    yield from _beliefs()
    yield from _modes()


def waiting_cases() -> Iterator[Case]:
    """Yield assessments that wait for a model which answers late or never."""
    # Long enough for a busy machine to have sent the calls.
    yield Case(name="waiting/hang", script=FAULTS["hang"], settings=_SOON)
    yield Case(name="waiting/hang_plain", script=FAULTS["hang"], settings=_SOON | _PLAIN)
    hanging = partial(fault, "hang")
    yield Case(name="waiting/ollama", script=FAULTS["hang"], settings=_SOON, wire="ollama")
    for task in ("evidence", "scoring", "danger", "meta_review"):
        yield Case(name=f"waiting/{task}", script=hanging(tasks=[task]), settings=_TIMEOUT)
    fallback = _TIMEOUT | _TO_BASELINE
    yield Case(name="waiting/fallback", script=hanging(tasks=["evidence"]), settings=fallback)
    yield Case(
        name="waiting/deadline_of_all", script=FAULTS["hang"], options={"deadline_seconds": 2}
    )


def _of_one_task() -> Iterator[Case]:
    tasks: Mapping[str, tuple[str, ...]] = {
        "findings": QUALITATIVE_TASKS,
        "evidence": ("evidence",),
        "scoring": ("scoring",),
        "judge": JUDGE_TASKS,
        "one_judge": JUDGE_TASKS[:1],
        "meta_review": ("meta_review",),
        "danger": ("danger",),
    }
    for name, some in tasks.items():
        for kind in ("prose", "status_500"):
            yield Case(
                name=f"one_task/{name}/{kind}", script=fault(kind, tasks=some), settings=_NO_RETRIES
            )
    agents = {"QUALITATIVE": "a", "QUANTITATIVE": "b", "JUDGE": "c", "META_REVIEW": "d"}
    named = {f"MODEL_{agent}_MODEL": f"ollama:{name}" for agent, name in agents.items()}
    yield Case(
        name="one_task/a_model_for_each",
        wire="ollama",
        settings={**named, "DANGER_MODEL": "ollama:e", "MODEL_TEMPERATURE": "0.5"},
    )
    yield Case(name="one_task/danger_off", settings={"DANGER_MODEL": "off"}, text=DANGER)
    yield Case(name="one_task/baseline_scores", settings={"MODEL_QUANTITATIVE_MODEL": "baseline"})
    yield Case(name="one_task/transcript_is_data", settings={"QUALITATIVE_DELIMIT_TRANSCRIPT": "1"})
    yield Case(name="one_task/first_call_ahead", settings={"MODEL_FIRST_CALL_AHEAD": "always"})


def _first_model(script: Script) -> Script:
    """Let the first model answer by the script, and all others well."""
    rest = good_replies()
    return lambda request: (
        script(request) if request.body.get("model") == "fake-model" else rest(request)
    )


def _fallbacks() -> Iterator[Case]:
    for name in ("prose", "status_401", "status_404", "status_500", "null_content", "reset"):
        script = _first_model(FAULTS[name])
        yield Case(name=f"fallback/second/{name}", script=script, settings=_SECOND | _NO_RETRIES)
    for name in ("prose", "status_404"):
        both = _SECOND | _NO_RETRIES
        yield Case(name=f"fallback/both_fail/{name}", script=FAULTS[name], settings=both)
        baseline = _TO_BASELINE | _NO_RETRIES
        yield Case(name=f"fallback/baseline/{name}", script=FAULTS[name], settings=baseline)
    half = _first_model(fault("list_instead_of_object", tasks=["scoring"]))
    yield Case(name="fallback/half_a_reply", script=half, settings=_SECOND | _NO_RETRIES)
    unready = {"MODEL_DEFAULT": "ollama:gone", "OLLAMA_HOST": "127.0.0.1:1"}
    second = {**unready, "MODEL_FALLBACKS": "openai-chat:fake-model"}
    yield Case(name="fallback/first_is_not_there", settings=second)
    yield Case(name="fallback/nothing_is_there", settings=unready)


def _refined() -> Iterator[Case]:
    low = only_for(JUDGE_TASKS, always(judge_text("2")))
    for name, script, settings in (
        ("never_better", low, {"FEEDBACK_MAX_ITERATIONS": "2"}),
        ("better", bettered("2", "5"), {}),
        ("worse", bettered("3", "1"), {"FEEDBACK_MAX_ITERATIONS": "2"}),
        ("off", low, {"FEEDBACK_ENABLED": "false"}),
        ("no_rounds", low, {"FEEDBACK_MAX_ITERATIONS": "0"}),
        ("never_wanted", low, {"FEEDBACK_SCORE_THRESHOLD": "0"}),
        ("always_wanted", good_replies(), {"FEEDBACK_SCORE_THRESHOLD": "5"}),
    ):
        yield Case(name=f"refined/{name}", script=script, settings=settings)
    spoilt = only_for(["qualitative_refine"], FAULTS["prose"], otherwise=low)
    yield Case(name="refined/refinement_fails", script=spoilt, settings=_NO_RETRIES)
    unjudged = only_for(JUDGE_TASKS, first_attempts(1, low, then=FAULTS["prose"]))
    yield Case(name="refined/second_round_is_not_judged", script=unjudged, settings=_NO_RETRIES)
    for name, text in {
        "good": judges_text(),
        "one_low": judges_text(accuracy="1"),
        "one_missing": judges_text(coherence=""),
        "all_missing": "Score: 4",
        "one_of_six": judges_text(specificity="6"),
    }.items():
        script = only_for(["judges"], always(text))
        settings = _ONE_CALL | {"FEEDBACK_MAX_ITERATIONS": "1"}
        yield Case(name=f"refined/one_call/{name}", script=script, settings=settings)


def _limited() -> Iterator[Case]:
    for calls in (1, 3, 7, 8):
        yield Case(
            name=f"limited/calls_{calls}",
            settings={"MODEL_MAX_CALLS": str(calls), "MODEL_MAX_CONCURRENCY": "1"},
        )
    small = {"MODEL_MAX_REPLY_BYTES": "1024"}
    yield Case(name="limited/reply_bytes", text=EVERY_DAY, settings=small)
    yield Case(name="limited/window", wire="ollama", settings={"OLLAMA_NUM_CTX": "256"})
    yield Case(name="limited/room_in_window", wire="ollama", settings={"OLLAMA_NUM_CTX": "8192"})
    for retries in ("0", "1"):
        for name in ("prose", "status_429", "nan"):
            settings = {"PYDANTIC_AI_RETRIES": retries, "MODEL_BUSY_WAITS_SECONDS": "0"}
            yield Case(
                name=f"limited/retries_{retries}/{name}", script=FAULTS[name], settings=settings
            )
    busy = first_attempts(3, FAULTS["status_429"])
    yield Case(name="limited/busy_for_a_while", script=busy)
    no_waits = {"MODEL_BUSY_WAITS_SECONDS": "0"}
    yield Case(name="limited/room_for_503", script=lambda _: _NO_ROOM, settings=no_waits)


_NO_ROOM: Final = Reply(status=503, raw_body=b'{"error": "loading model"}', headers={"x": "1"})


def _quotes() -> Iterator[Case]:
    half = only_for(QUALITATIVE_TASKS, always(_half_said))
    for name, settings in (
        ("dropped", _CHECKED | {"QUALITATIVE_MAX_UNVERIFIED_QUOTES": "9"}),
        ("asked_again", _CHECKED),
        ("asked_twice", _CHECKED | {"QUALITATIVE_QUOTE_RETRY_MAX_ATTEMPTS": "2"}),
        ("not_asked_again", _CHECKED | {"QUALITATIVE_QUOTE_RETRY_MAX_ATTEMPTS": "0"}),
        ("kept", {}),
    ):
        yield Case(name=f"quotes/findings_{name}", script=half, settings=settings)
    mended = only_for(QUALITATIVE_TASKS, first_attempts(1, always(_half_said)))
    yield Case(name="quotes/findings_mended", script=mended, settings=_CHECKED)
    invented = fault("hallucinated_quotes", tasks=["evidence", "scoring"])
    kinds: Mapping[str, Mapping[str, str]] = {
        "unchecked": _UNCHECKED,
        "fuzzy": _FUZZY,
        "fail_on_all_refused": _ALL_REFUSED,
    }
    for name, kind in kinds.items():
        settings = {**_SCORED, **kind}
        yield Case(name=f"quotes/invented_{name}", script=invented, settings=settings)
        written_out = only_for(["evidence", "scoring"], _written_out)
        yield Case(
            name=f"quotes/written_out_{name}",
            script=written_out,
            text=EVERY_DAY,
            settings=settings,
        )


def _half_said(quotes: object) -> str:
    assert isinstance(quotes, list)
    return qualitative_text([*quotes[:2], "Nobody said this in any interview at all."])


def _written_out(request: Request) -> Reply:
    text = good_replies()(request).text or ""
    return Reply(text=text.replace("can't", "cannot").replace("I'm", "I am"))


def _beliefs() -> Iterator[Case]:
    def unsure(request: Request) -> Reply:
        reply = good_replies()(request)
        if request.task == "scoring" and request.attempt % 2 == 0:
            return Reply(text=(reply.text or "").replace('"score": 1', '"score": 2'))
        return reply

    rescored = {"BELIEF_SOURCES": "rescoring", "BELIEF_RESCORINGS": "4", **_SCORED}
    tokens = {"BELIEF_SOURCES": "tokens", **_SCORED}
    silent = only_for(["belief_tokens"], always("1"))
    scripts: Mapping[str, tuple[Script, Mapping[str, str]]] = {
        "rescoring": (unsure, rescored),
        "rescoring_fails": (first_attempts(1, good_replies(), then=FAULTS["prose"]), rescored),
        "tokens": (good_replies(), tokens),
        "tokens_not_told": (silent, tokens),
        "tokens_fail": (fault("status_500", tasks=["belief_tokens"]), tokens),
        "decision": (good_replies(), _DECIDED),
        "decision_is_not_there": (
            good_replies(),
            {**_DECIDED, "BELIEF_DECISION_URL": "http://127.0.0.1:1"},
        ),
        "all": (
            good_replies(),
            {**rescored, **_DECIDED, "BELIEF_SOURCES": "rescoring,tokens,decision"},
        ),
    }
    for name, (script, settings) in scripts.items():
        yield Case(name=f"belief/{name}", script=script, settings=settings, has_beliefs=True)


def _modes() -> Iterator[Case]:
    described = {"mode": "descriptions_only"}
    yield Case(name="mode/descriptions", options=described, settings=_SCORED)
    changed: Mapping[str, tuple[str, Script]] = {
        "short": (SHORT, good_replies()),
        "every_day": (EVERY_DAY, good_replies()),
        "scoring_fails_then": (SHORT, _scored_once()),
    }
    for name, (text, script) in changed.items():
        yield Case(
            name=f"mode/ablated_{name}",
            text=text,
            script=script,
            settings=_SCORED,
            options={"ablate": True},
        )


def _scored_once() -> Script:
    """Score the interview itself, and none of the changed ones that come after it."""
    good = good_replies()
    seen: set[str] = set()

    def script(request: Request) -> Reply:
        if request.task != "scoring":
            return good(request)
        is_first = not seen
        seen.add(request.transcript)
        return good(request) if is_first else Reply(text="I do not know.")

    return script
