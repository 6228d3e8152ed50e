"""The learned reader: what a small network and the n-gram voice make of a passage.

The network is six layers of a sentence encoder, trained on labelled statements; `model/CARD.md`
says on which, by which command, and how well it reads.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.reader.ngrams import NgramVoice
from ai_psychiatrist.services.reader.passages import Passage

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

NETWORK: Final = "network.onnx"
TOKENIZER: Final = "tokenizer.json"
NGRAMS: Final = "ngrams.npz"
LISTING: Final = "files.json"
SHIPPED: Final = Path(__file__).parent / "model"
_CLS: Final = 101
_SEP: Final = 102
_MOST_QUESTION_TOKENS: Final = 48
_MOST_ANSWER_TOKENS: Final = 110
_DIGITS: Final = 3
"""To which values are rounded before they are compared: processors differ in the last digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageReading:
    """What the network makes of a passage; values are 0–1 and no measured shares."""

    present: Mapping[Item, float]
    """That the speaker has the item, now."""
    denied: Mapping[Item, float]
    """That the speaker does not have it, now."""
    danger: float
    """That it tells of the speaker's own danger, now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedReader:
    """Network, tokenizer and n-gram weights, each of them the file that is listed."""

    digest: str
    """SHA-256 of the list of its files and of their digests."""
    _network: "InferenceSession" = field(repr=False)
    _tokenizer: "Tokenizer" = field(repr=False)
    _ngrams: NgramVoice = field(repr=False)

    @classmethod
    def load(cls, folder: Path = SHIPPED) -> "LearnedReader":
        """Return the reader of a folder, ready to read.

        Raises `ConfigurationError` where its packages are missing, and `ArtifactMismatch` where a
        file is not the one that is listed.
        """
        try:
            from onnxruntime import InferenceSession, SessionOptions  # noqa: PLC0415  an extra
            from tokenizers import Tokenizer  # noqa: PLC0415  an extra
        except ImportError:
            msg = "the learned reader needs an extra: pip install 'ai-psychiatrist[reader]'"
            raise ConfigurationError(msg) from None
        listing = (folder / LISTING).read_bytes()
        listed: Mapping[str, str] = json.loads(listing)["files"]
        network, tokenizer, ngrams = (
            _checked(folder, name, listed) for name in (NETWORK, TOKENIZER, NGRAMS)
        )
        options = SessionOptions()
        options.log_severity_level = 3
        # Several would have a busy machine wait for the slowest of them at every step.
        options.intra_op_num_threads = 1
        cut = Tokenizer.from_str(tokenizer.decode())
        cut.no_truncation()
        cut.no_padding()
        return cls(
            digest=hashlib.sha256(listing).hexdigest(),
            _network=InferenceSession(network, options, providers=["CPUExecutionProvider"]),
            _tokenizer=cut,
            _ngrams=NgramVoice.load(BytesIO(ngrams)),
        )

    def ngram_danger(self, passage: Passage) -> float:
        """Return the probability of danger in a passage, 0–1, by its n-grams alone."""
        return round(self._ngrams.danger(passage.question, passage.words), _DIGITS)

    def read(self, passage: Passage) -> PassageReading:
        """Have the network read a passage, by itself: beside others it would round otherwise."""
        ids, sides = tokens_of(self._tokenizer, passage.question, passage.words)
        (values,) = self._network.run(None, {"ids": [ids], "sides": [sides]})[0]
        present, denied = values[: len(Item)], values[len(Item) : -1]
        return PassageReading(
            present={item: _rounded(value) for item, value in zip(Item, present, strict=True)},
            denied={item: _rounded(value) for item, value in zip(Item, denied, strict=True)},
            danger=_rounded(values[-1]),
        )


def tokens_of(tokenizer: "Tokenizer", question: str, words: str) -> tuple[list[int], list[int]]:
    """Return the end of a question and the start of an answer as ids, and the side of each."""
    asked, said = (
        tokenizer.encode(text, add_special_tokens=False).ids for text in (question, words)
    )
    first = [_CLS, *asked[-_MOST_QUESTION_TOKENS:], _SEP]
    second = [*said[:_MOST_ANSWER_TOKENS], _SEP]
    return [*first, *second], [*[0] * len(first), *[1] * len(second)]


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS)


def _checked(folder: Path, name: str, listed: Mapping[str, str]) -> bytes:
    """Return what a file holds that is the one that is listed."""
    content = (folder / name).read_bytes()
    if hashlib.sha256(content).hexdigest() != listed.get(name):
        msg = f"{name} of the learned reader is not the file that {LISTING} lists"
        raise ArtifactMismatch(msg)
    return content
