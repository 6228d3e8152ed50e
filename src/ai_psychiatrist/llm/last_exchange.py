"""What a model is sent when it is asked again: the task, its last reply and what is wrong."""

from dataclasses import replace
from typing import Final

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    UserPromptPart,
)

from ai_psychiatrist.llm.control_tokens import without_control_tokens

MAX_QUOTED_BACK_CHARACTERS: Final = 8_000
"""How much of a rejected reply the model is shown again when it is asked anew."""


def last_exchange(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Keep the task, the last reply and the feedback on it, in the user's voice.

    Earlier rejected replies would only fill the context window, and a long one is cut: the model
    needs to know what was wrong, not to read all of it again. A reply without words is left out:
    providers take no empty message. The library would frame feedback in tags of its own and, for
    some models, explain them ahead of the instructions: a second try would then share no prefix
    with the first.
    """
    if len(messages) < 3:
        return messages
    task, reply, feedback = messages[0], messages[-2], messages[-1]
    if not (
        isinstance(task, ModelRequest)
        and isinstance(reply, ModelResponse)
        and isinstance(feedback, ModelRequest)
    ):
        return messages
    asked = [_in_users_voice(part) for part in feedback.parts]
    shown = (reply.text or "")[:MAX_QUOTED_BACK_CHARACTERS]
    if not shown.strip():
        return [replace(task, parts=[*task.parts, *asked])]
    # What has no bytes in UTF-8 becomes question marks, or the request could not be sent. And a
    # transcript can have a model write the tokens that begin a turn.
    sendable = without_control_tokens(shown.encode("utf-8", "replace").decode("utf-8"))
    return [task, ModelResponse(parts=[TextPart(sendable)]), replace(feedback, parts=asked)]


def _in_users_voice(part: ModelRequestPart) -> ModelRequestPart:
    if part.part_kind == "retry-feedback" and isinstance(part.content, str):
        words = f"That reply was not accepted. {part.content}"
        return UserPromptPart(content=words, timestamp=part.timestamp)
    return part
