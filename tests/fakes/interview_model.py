"""A model server's script for the interview agents: it calls the tool that it is given."""

import json
import re
from collections import defaultdict
from random import Random

from tests.fakes.exchange import Call, Reply, Request, Script
from tests.fakes.interview_replies import Arguments, Brief, good_reply, tool_of_schema
from tests.fakes.replies import danger_text

_TARGETS = re.compile(r"^Target ids: (.*)$", re.MULTILINE)
_GOAL = re.compile(r"\bg\d+\b")
RATIONALE = "hidden rationale"


def calling_tools(seed: int = 0, *, rationale: str = RATIONALE) -> Script:
    """Answer every call with good arguments; goals gain with each answer."""
    draw = Random(seed)  # noqa: S311
    confidence: dict[str, int] = defaultdict(int)

    def script(request: Request) -> Reply:
        if request.task == "danger":
            return Reply(text=danger_text())
        prompt = request.messages[-1].content
        targets = _TARGETS.search(prompt)
        brief = Brief(
            open_goals={goal: confidence[goal] for goal in sorted(set(_GOAL.findall(prompt)))},
            targets=tuple(_GOAL.findall(targets[1])) if targets else (),
            rationale=rationale,
        )
        tool = tool_of(request)
        arguments = good_reply(tool, draw, brief)
        for update in arguments.get("goal_updates", ()):
            confidence[update["goal_id"]] = update["confidence"]
        return with_arguments(request, arguments)

    return script


def tool_of(request: Request) -> str:
    """Return the name of the tool that is wanted, whose schema may stand in the prompt instead."""
    tools = request.body.get("tools")
    if not isinstance(tools, list):
        return tool_of_schema(request.messages[-1].content)
    (tool,) = tools
    return str(tool["function"]["name"])


def with_arguments(request: Request, arguments: Arguments) -> Reply:
    """Call the tool that is wanted, or reply with its arguments where no tool was sent."""
    if "tools" not in request.body:
        return Reply(text=json.dumps(arguments))
    return tool_call(tool_of(request), arguments)


def tool_call(name: str, arguments: Arguments) -> Reply:
    """Return a reply that calls a tool."""
    call = Call(name=name, arguments=arguments)
    return Reply(text=None, call=call, finish_reason="tool_calls")
