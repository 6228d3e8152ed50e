"""The references of a process: those that the settings name, with their embedder, opened once."""

from functools import partial
from typing import TYPE_CHECKING

from ai_psychiatrist.agents.prompts.tasks import TASKS, prompt_digests
from ai_psychiatrist.agents.pydantic_agents import EVIDENCE, QUANTITATIVE
from ai_psychiatrist.agents.references import ReferenceSource
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.services.retrieval.settings import LEXICAL, ONNX, ReferenceSettings

if TYPE_CHECKING:
    from ai_psychiatrist.services.retrieval.embedders import Embedder
    from ai_psychiatrist.services.retrieval.references import References


def reference_source(
    settings: ReferenceSettings, connections: ModelConnections
) -> ReferenceSource | None:
    """Return where scoring looks references up; `None` where the settings name none."""
    if settings.dir is None:
        return None
    return ReferenceSource(
        load=partial(references_of, settings, connections),
        hosts=partial(connections.embedder_hosts, settings.embedder),
        seed=settings.seed,
    )


def references_of(
    settings: ReferenceSettings, connections: ModelConnections, *, needs_scores: bool = True
) -> "References":
    """Open the references that the settings name.

    Raises `ConfigurationError` where none are named or a package is missing, and `ArtifactMismatch`
    for those that are damaged, made with other settings, or not scored although they have to be.
    """
    refuse_missing_packages()
    from ai_psychiatrist.services.retrieval.references import open_references  # noqa: PLC0415

    return open_references(
        settings,
        embedder=embedder_of(settings.embedder, connections),
        prompts=scoring_prompts() if needs_scores else None,
    )


def embedder_of(name: str, connections: ModelConnections) -> "Embedder | None":
    """Return what tells likeness, `None` for shared words.

    Raises `ConfigurationError` where a package or an address is missing, and `ArtifactMismatch`
    where a package has other files than are known.
    """
    if name == LEXICAL:
        return None
    if name == ONNX:
        from ai_psychiatrist.services.retrieval.embedders import OnnxEmbedder  # noqa: PLC0415

        return OnnxEmbedder()
    return connections.servers.embedder(name)


def scoring_prompts() -> dict[str, str]:
    """Return the digests of the prompts that a model scores chunks with."""
    digests = prompt_digests(TASKS)
    return {agent: digests[agent] for agent in (EVIDENCE.name, QUANTITATIVE.name)}


def refuse_missing_packages() -> None:
    """Raise `ConfigurationError` with the cure where the packages of references are missing."""
    try:
        import bm25s  # noqa: F401, PLC0415
        import numpy  # noqa: F401, ICN001, PLC0415
    except ImportError:
        raise ConfigurationError(
            "references need an extra: pip install 'ai-psychiatrist[few-shot]'"
        ) from None
