"""Vectors of texts from a server that speaks OpenAI's protocol for them, as Ollama does too."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.providers.openai import OpenAIProvider

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.digests import plain_digest
from ai_psychiatrist.llm.endpoints import CallRetries
from ai_psychiatrist.llm.failures import call_failure
from ai_psychiatrist.services.retrieval.embedders import Vectors

_BATCH: Final = 8
"""Texts of one call: larger answers than theirs are refused as floods."""


@dataclass(frozen=True, kw_only=True)
class ServerEmbedder:
    """One embedding model of a server."""

    name: str
    """As in the settings, such as `ollama:qwen3-embedding:8b`."""
    model: OpenAIEmbeddingModel = field(repr=False)
    limiter: asyncio.Semaphore = field(repr=False)
    retries: CallRetries = field(repr=False)

    @property
    def digest(self) -> str:
        """Of the name: which weights a server has under it cannot be known."""
        return plain_digest(self.name, length=64)

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Return (texts, dimensions); raises `ModelCallFailed` where the server gives no such."""
        parts = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        found = await asyncio.gather(*(self._batch(part, is_query=is_query) for part in parts))
        if len({vectors.shape[1] for vectors in found}) != 1:
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        return np.concatenate(found)

    async def _batch(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        tries = 0
        while True:
            try:
                return await self._asked(texts, is_query=is_query)
            except ModelCallFailed as failure:
                wait = self.retries.wait_before(failure, tries)
                if wait is None:
                    raise
                await self.retries.sleep(wait)
                tries += 1

    async def _asked(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        try:
            async with self.limiter:
                result = await self.model.embed(
                    [*texts], input_type="query" if is_query else "document"
                )
            vectors = np.array(result.embeddings, dtype=np.float32)
        except Exception as error:  # noqa: BLE001  a server may make a library fail in any way
            # Its text may hold the participant's words: the request's, or what it says of them.
            raise call_failure(error) from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not _all_have_length(vectors):
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        return vectors


def server_embedder(
    name: str, provider: OpenAIProvider, *, limiter: asyncio.Semaphore, retries: CallRetries
) -> ServerEmbedder:
    """Return the embedder of this name at a server, whose address ends with `/v1`."""
    model = OpenAIEmbeddingModel(name.partition(":")[2], provider=provider)
    return ServerEmbedder(name=name, model=model, limiter=limiter, retries=retries)


def _all_have_length(vectors: Vectors) -> bool:
    lengths = np.linalg.norm(vectors, axis=1)
    return bool(np.isfinite(lengths).all() and (lengths > 0).all())
