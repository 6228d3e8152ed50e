"""The model behind the documentation's examples: it answers whatever any of them asks."""

from typing import Final

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.interview_model import calling_tools
from tests.fakes.pipeline_replies import ANSWERS, step_of
from tests.fakes.replies import good_replies
from tests.fakes.wires import encode_json

MODELS: Final = ("gemma3", "gemma3:27b", "qwen3", "qwen3:32b")
"""The names that pages give to models."""


def documented_model() -> Script:
    """Answer assessments, the steps of pipelines, interviews and the checks of `doctor`."""
    assessing, interviewing = good_replies(), calling_tools()

    def reply(request: Request) -> Reply:
        step = step_of(request)
        if step is not None:
            return Reply(text=encode_json(ANSWERS[step]).decode())
        if "tools" in request.body:
            return interviewing(request)
        is_schema = "format" in request.body or "response_format" in request.body
        if is_schema and not request.task:
            return Reply(text='{"ready": true}')
        return assessing(request)

    return reply
