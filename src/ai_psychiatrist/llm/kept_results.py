"""What a call gave, in the form in which it is kept: the JSON that Pydantic AI has for messages."""

import json
from dataclasses import replace

from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.llm.call_store import CallResult, credible_tokens
from ai_psychiatrist.llm.chat import ChatReply


def with_result(call: ModelCall, result: CallResult) -> ModelCall:
    """Return a call with what it gave."""
    if isinstance(result, ModelCallFailed):
        return replace(call, code=result.code, http_status=result.http_status)
    response = _response_of(result) if isinstance(result, ChatReply) else result
    return replace(
        call,
        # The library's own JSON has no form for half a character, which a reply may hold.
        reply=json.dumps(ModelMessagesTypeAdapter.dump_python([response], mode="json")),
        is_cut_off=response.finish_reason == "length",
        input_tokens=credible_tokens(response.usage.input_tokens),
        output_tokens=credible_tokens(response.usage.output_tokens),
        cache_read_tokens=credible_tokens(response.usage.cache_read_tokens),
        cache_write_tokens=credible_tokens(response.usage.cache_write_tokens),
    )


def result_of(kept: ModelCall) -> CallResult:
    """Return what a kept call gave when it was made."""
    if kept.code is not None:
        return ModelCallFailed(kept.code, http_status=kept.http_status)
    (message,) = ModelMessagesTypeAdapter.validate_python(json.loads(kept.reply or "[]"))
    if not isinstance(message, ModelResponse):
        msg = "what was kept is no response"
        raise TypeError(msg)
    return message


def _response_of(reply: ChatReply) -> ModelResponse:
    return ModelResponse(
        parts=[TextPart(reply.text)],
        usage=RequestUsage(
            input_tokens=reply.input_tokens or 0,
            output_tokens=reply.output_tokens or 0,
            cache_read_tokens=reply.cache_read_tokens or 0,
            cache_write_tokens=reply.cache_write_tokens or 0,
        ),
        finish_reason="length" if reply.is_cut_off else "stop",
    )
