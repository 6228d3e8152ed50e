"""Plain chat over an OpenAI-compatible interface, `POST {base}/chat/completions`."""

from ai_psychiatrist.llm.chat import ChatReply
from ai_psychiatrist.llm.http_json import JsonBackend, count_at, text_at


class OpenAIChatClient:
    """One model of an OpenAI-compatible server such as vLLM or llama.cpp."""

    def __init__(self, backend: JsonBackend, model: str, *, temperature: float) -> None:
        self._backend = backend
        self.model = model
        self._temperature = temperature

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:
        """Send one chat request."""
        response = await self._backend.post(
            "/chat/completions",
            {
                "model": self.model,
                "messages": [
                    {"role": "system", "content": system_prompt},
                    {"role": "user", "content": user_prompt},
                ],
                "temperature": self._temperature,
            },
        )
        return ChatReply(
            text=text_at(response, "choices", 0, "message", "content"),
            is_cut_off=_finish_reason(response) == "length",
            input_tokens=count_at(response, "usage", "prompt_tokens"),
            output_tokens=count_at(response, "usage", "completion_tokens"),
        )

    async def is_reachable(self) -> bool:
        """Return whether the server answers."""
        return await self._backend.answers("/models")


def _finish_reason(response: dict[str, object]) -> object:
    match response.get("choices"):
        case [{"finish_reason": reason}, *_]:
            return reason
        case _:
            return None
