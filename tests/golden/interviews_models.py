"""Scripts of a model server for interviews: each tool is called well, or in a way that is wrong."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.interview_model import tool_call
from tests.fakes.interview_replies import Arguments, Brief, good_reply
from tests.fakes.replies import danger_text

TOOLS: Final = {
    "generate_goals": "generate_investigation_goals",
    "extract_facts": "extract_facts",
    "detect_drift": "detect_answer_drift",
    "update_goals": "update_goal_progress",
    "generate_question_with_answers": "generate_question_with_answers",
    "match_frequency": "match_answer_to_frequency",
    "generate_analysis": "generate_analysis_report",
    "digest_answer": "digest_answer",
}
"""The tool of each task."""
OFF_TOPIC: Final = "weather"
"""A word of answers that are beside the question."""
_TARGETS: Final = re.compile(r"^Target ids: (.*)$", re.MULTILINE)
_GOAL: Final = re.compile(r"\bg\d+\b")
_ANSWER: Final = re.compile(r"<answer-\w+>\n(.*)\n</answer-", re.DOTALL)

INVALID: Final[Mapping[str, Arguments]] = {
    "generate_goals": {"goals": ["Find out what happened"]},
    "extract_facts": {"facts": [{"topic": "keys", "claim": "", "confidence": "perhaps"}]},
    "detect_drift": {"addressed_question": "yes", "drift_reason": ""},
    "update_goals": {"goal_updates": [{"goal_id": "g1", "confidence": 150, "status": "done"}]},
    "generate_question_with_answers": {
        "question": "What happened?",
        "target_goal_id": "g99",
        "reasoning": "",
        "answers": [{"answer": "Nothing.", "reasoning": ""}] * 3,
    },
    "match_frequency": {"frequency": "always", "words": "always"},
    "generate_analysis": {"timeline": [], "key_facts": [], "gaps": [], "verdict": {}},
    "digest_answer": {"facts": [], "drift": None},
}


def calling_tools(
    faults: Mapping[str, Script] | None = None,
    *,
    first: int | None = None,
    changes: Mapping[str, Arguments] | None = None,
    most_gain: int = 60,
) -> Script:
    """Call every tool well, but for some tasks.

    `faults`: what is done instead, at the `first` calls for a task or at all; `changes`: what the
    arguments of a task have instead of their own.
    """
    asked: Counter[str] = Counter()
    confidence: dict[str, int] = defaultdict(int)

    def script(request: Request) -> Reply:
        task = request.task
        asked[task] += 1
        fault = (faults or {}).get(task)
        if fault is not None and (first is None or asked[task] <= first):
            return fault(request)
        if task == "danger":
            return Reply(text=danger_text())
        # Calls for several tasks are under way at once: each draws its own numbers.
        draw = Random(f"{task} {asked[task]}")  # noqa: S311
        brief = _brief(request, confidence, most_gain)
        arguments = {**good_reply(TOOLS[task], draw, brief), **(changes or {}).get(task, {})}
        for update in arguments.get("goal_updates", ()):
            confidence[update["goal_id"]] = update["confidence"]
        return called(request, arguments)

    return script


def proposing(words: str, frequency: str = "several_days") -> Script:
    """Take every answer for one frequency, and find no danger."""

    def script(request: Request) -> Reply:
        if request.task == "danger":
            return Reply(text=danger_text())
        return called(request, {"frequency": frequency, "words": words})

    return script


def called(request: Request, arguments: Arguments) -> Reply:
    """Call the tool of a request, or reply with its arguments where no tool was sent."""
    if "tools" in request.body:
        return tool_call(TOOLS[request.task], arguments)
    return Reply(text=json.dumps(arguments))


def invalid(request: Request) -> Reply:
    """Call the right tool with arguments that break its rules."""
    return called(request, INVALID[request.task])


def counted(requests: Sequence[Request]) -> dict[str, int]:
    """Return how often each task was asked of each model."""
    found = Counter(f"{one.body['model']}: {one.task}" for one in requests)
    return dict(sorted(found.items()))


def first_prompts(requests: Sequence[Request]) -> dict[str, Any]:
    """Return what was sent at the first call for each task."""
    found: dict[str, Any] = {}
    for one in sorted(requests, key=lambda request: request.task):
        if one.task not in found:
            sent = {key: one.body[key] for key in one.body if key not in ("messages", "tools")}
            said = [{each.role: _lines(each.content)} for each in one.messages]
            found[one.task] = {**sent, "messages": said}
    return found


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _brief(request: Request, confidence: Mapping[str, int], most_gain: int) -> Brief:
    prompt = next(one.content for one in request.messages if one.role == "user")
    targets, answer = _TARGETS.search(prompt), _ANSWER.search(prompt)
    goals = sorted(set(_GOAL.findall(prompt)))
    return Brief(
        open_goals={goal: confidence.get(goal, 0) for goal in goals},
        targets=tuple(_GOAL.findall(targets[1])) if targets else (),
        is_addressed=answer is None or OFF_TOPIC not in answer[1],
        most_gain=most_gain,
    )
