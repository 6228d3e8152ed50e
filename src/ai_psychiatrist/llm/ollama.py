"""Plain chat over Ollama's native interface, `POST /api/chat`."""

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.chat import ChatReply
from ai_psychiatrist.llm.http_json import JsonBackend, count_at, text_at


class OllamaChatClient:
    """One model of an Ollama server."""

    def __init__(
        self, backend: JsonBackend, model: str, *, temperature: float, num_ctx: int | None = None
    ) -> None:
        """`num_ctx`: context window in tokens to ask for; `None` leaves it to the server."""
        self._backend = backend
        self.model = model
        self._temperature = temperature
        self._num_ctx = num_ctx

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:
        """Send one chat request; a prompt that does not fit the window is a failure."""
        response = await self._backend.post("/api/chat", self._payload(user_prompt, system_prompt))
        reply = ChatReply(
            text=text_at(response, "message", "content"),
            is_cut_off=response.get("done_reason") == "length",
            input_tokens=count_at(response, "prompt_eval_count"),
            output_tokens=count_at(response, "eval_count"),
        )
        if fills_context(reply.input_tokens, self._num_ctx):
            raise ModelCallFailed(FailureCode.CONTEXT_TRUNCATED)
        return reply

    def _payload(self, user_prompt: str, system_prompt: str) -> dict[str, object]:
        options: dict[str, object] = {"temperature": self._temperature}
        if self._num_ctx is not None:
            options["num_ctx"] = self._num_ctx
        return {
            "model": self.model,
            "messages": [
                {"role": "system", "content": system_prompt},
                {"role": "user", "content": user_prompt},
            ],
            "stream": False,
            # Servers that know these refuse an overlong prompt; older ones cut it silently, which
            # the token count of the response shows.
            "truncate": False,
            "shift": False,
            "options": options,
        }

    async def is_reachable(self) -> bool:
        """Return whether the server answers."""
        return await self._backend.answers("/api/version")


def fills_context(input_tokens: int | None, num_ctx: int | None) -> bool:
    """Return whether a prompt took the whole window, so that its beginning was cut off."""
    return num_ctx is not None and input_tokens is not None and input_tokens >= num_ctx - 1
