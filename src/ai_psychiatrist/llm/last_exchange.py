"""What a model is sent when it is asked again: the task, its last reply and what is wrong."""

from dataclasses import replace
from typing import Final

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)

from ai_psychiatrist.llm.reply_reading import MAX_QUOTED_BACK_CHARACTERS, encodable

_NOT_ACCEPTED: Final = "That reply was not accepted."


def in_users_voice(part: ModelRequestPart) -> ModelRequestPart:
    """Turn feedback on a text into words of the user."""
    if part.part_kind == "retry-feedback" and isinstance(part.content, str):
        return UserPromptPart(content=f"{_NOT_ACCEPTED} {part.content}", timestamp=part.timestamp)
    return part


def with_last_reply(sent: list[ModelMessage], shown: str) -> list[ModelMessage]:
    """Show the model its last reply as it wrote it, and the feedback as an answer to that.

    A reply without words is left out, and the feedback follows the task: providers take no empty
    message.
    """
    task, feedback = sent[0], sent[-1]
    if not (isinstance(task, ModelRequest) and isinstance(feedback, ModelRequest)):
        return sent
    asked = [_without_call(part) for part in feedback.parts]
    if not shown.strip():
        return [replace(task, parts=[*task.parts, *asked])]
    return [task, ModelResponse(parts=[TextPart(shown)]), replace(feedback, parts=asked)]


def _without_call(part: ModelRequestPart) -> ModelRequestPart:
    """Say in the user's voice what was to be the result of a call that was never made."""
    if isinstance(part, ToolReturnPart):
        return UserPromptPart(content=f"{_NOT_ACCEPTED} {part.content}", timestamp=part.timestamp)
    return in_users_voice(part)


def last_exchange(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Keep the task, the last reply and the feedback on it.

    Earlier rejected replies would only fill the context window, and a long one is cut: the model
    needs to know what was wrong, not to read all of it again. What has no bytes in UTF-8 becomes
    question marks, or the request could not be sent.
    """
    if len(messages) < 3:
        return messages
    first, last_reply, feedback = messages[0], messages[-2], messages[-1]
    if isinstance(last_reply, ModelResponse):
        last_reply = shortened(last_reply)
    return [first, last_reply, feedback]


def shortened(response: ModelResponse) -> ModelResponse:
    """Cut the texts of a reply to what is worth showing again."""
    return replace(
        response,
        parts=[
            replace(part, content=encodable(part.content[:MAX_QUOTED_BACK_CHARACTERS]))
            if isinstance(part, TextPart)
            else part
            for part in response.parts
        ],
    )
