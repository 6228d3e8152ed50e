"""Options of references for few-shot scoring."""

import re
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options

LEXICAL: Final = "lexical"
ONNX: Final = "onnx"
_EMBEDDER: Final = re.compile(rf"{LEXICAL}|{ONNX}|(openai|ollama):\S+")


def _known_embedder(name: str) -> str:
    if not _EMBEDDER.fullmatch(name):
        msg = f"write {LEXICAL}, {ONNX}, openai:MODEL or ollama:MODEL"
        raise ValueError(msg)
    return name


EmbedderName = Annotated[str, AfterValidator(_known_embedder)]


class ReferenceSettings(Options):
    """Where the references of few-shot scoring are, and which ones prompts contain."""

    model_config = SettingsConfigDict(env_prefix="REFERENCES_")

    dir: Path | None = Field(
        default=None, description="Folder made by `references build`; needed for few-shot."
    )
    embedder: EmbedderName = Field(
        default=LEXICAL,
        description="Source of similarity: `lexical`, `onnx`, `openai:MODEL`, `ollama:MODEL`.",
    )
    chunk_lines: int = Field(
        default=8, ge=1, le=100, description="Lines of a transcript in one reference."
    )
    chunk_step: int = Field(
        default=2,
        ge=1,
        le=100,
        description="Number of lines after which the next reference begins.",
    )
    top_k: int = Field(default=2, ge=1, le=20, description="Maximum references of an item.")
    min_similarity: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description=(
            "Minimum similarity of a reference to the evidence; each embedder has its own scale."
        ),
    )
    max_tokens: int = Field(
        default=600,
        ge=16,
        description="Maximum tokens of an item's references, about 4 bytes each.",
    )
    same_item: bool = Field(
        default=True, description="Show only references whose words are about the item."
    )
    check: Literal["off", "reading"] = Field(
        default="reading",
        description="`reading`: skip a reference whose score contradicts the reading of its words.",
    )
    seed: int = Field(default=0, ge=0, description="Seed of the draws in mode random_references.")
