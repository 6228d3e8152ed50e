"""The commands that make, score and check the references of few-shot scoring."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.dataset_options import (
    DatasetArgument,
    LabelFlags,
    LabelledOption,
    ReadingFlags,
    SplitOption,
    with_option_groups,
)
from ai_psychiatrist.cli.exits import ending_on_stop, fail, refusing_bad_input
from ai_psychiatrist.cli.settings_source import ModelOption, quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.wiring.references import refuse_missing_packages

references_app = CommandGroup(
    name="references",
    help="Make, score and check the references of few-shot scoring.",
)

BUILD_EXAMPLES = """
Examples:

  ai-psychiatrist references build DAIC-WOZ/ --out references/ --split train

  REFERENCES_EMBEDDER=ollama:embeddinggemma ai-psychiatrist references build talks/ --out refs/

The folder holds what participants said; its owner alone can read it.

Exit status: 0 made, 1 made and some interviews could not be read, 2 bad input or settings.
"""
SCORE_EXAMPLES = """
Examples:

  ai-psychiatrist references score references/ --by labels

  ai-psychiatrist references score references/ --by model --model ollama:gemma3:27b

Exit status: 0 every chunk was read, 1 some failed and have no score, 2 bad input or settings, 130
stopped by Ctrl-C (the same command goes on).
"""
CHECK_EXAMPLES = """
Examples:

  ai-psychiatrist references check references/

  ai-psychiatrist references check references/ --json

Exit status: 0 few-shot scoring can use them as it is set up, 1 it cannot, 2 no or damaged files.
"""


class ScoreSource(StrEnum):
    """Where the scores of chunks come from."""

    LABELS = "labels"
    MODEL = "model"


FolderArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="REFERENCES", help="What `build` made; else REFERENCES_DIR.", show_default=False
    ),
]


@references_app.command(epilog=BUILD_EXAMPLES)
@with_option_groups
def build(
    dataset: DatasetArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="REFERENCES", help="A new folder.")],
    split: SplitOption = None,
    labelled: LabelledOption = False,
    reading: ReadingFlags,
    scores: LabelFlags,
) -> None:
    """Cut the interviews of a dataset into references, and index them."""
    with refusing_bad_input(), _telling_of_calls():
        settings = _settings()
        choice = replace(
            reading.choice(dataset, settings.transcript.labels, scores),
            split=split,
            is_labelled=labelled,
        )
        from ai_psychiatrist.cli.references_work import build_from  # noqa: PLC0415

        code = asyncio.run(build_from(settings, choice, out))
    raise typer.Exit(code)


@references_app.command(epilog=SCORE_EXAMPLES)
def score(
    references: FolderArgument = None,
    *,
    by: Annotated[
        ScoreSource, typer.Option(help="The participants' own labels, or a model that reads each.")
    ],
    concurrency: Annotated[int, typer.Option(min=1, help="Chunks scored at the same time.")] = 8,
    model: ModelOption = None,
) -> None:
    """Give every chunk its scores, by labels that its words speak for or by a model."""
    kept = "stopped; what has finished is kept: the same command goes on"
    with refusing_bad_input(), _telling_of_calls(), ending_on_stop(kept):
        settings = _settings(references, model)
        from ai_psychiatrist.cli.references_work import score_folder  # noqa: PLC0415

        work = score_folder(settings, is_by_model=by is ScoreSource.MODEL, concurrency=concurrency)
        code = asyncio.run(work)
    raise typer.Exit(code)


@references_app.command(epilog=CHECK_EXAMPLES)
def check(
    references: FolderArgument = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say what references hold, and whether few-shot scoring can use them as it is set up."""
    with refusing_bad_input():
        settings = _settings(references)
        from ai_psychiatrist.cli.references_work import check_folder  # noqa: PLC0415

        code = asyncio.run(check_folder(settings, as_json=as_json))
    raise typer.Exit(code)


def _settings(references: Path | None = None, model: str | None = None) -> Settings:
    """Return the settings with which references are made: nothing is scored by references yet.

    Raises `ConfigurationError` where a package is missing; what is imported next needs it.
    """
    refuse_missing_packages()
    settings = quiet(read_settings(model))
    named = {} if references is None else {"dir": references}
    return settings.model_copy(
        update={
            "features": settings.features.model_copy(update={"enable_few_shot": False}),
            "references": settings.references.model_copy(update=named),
        }
    )


@contextmanager
def _telling_of_calls() -> Iterator[None]:
    """End the command where the server of an embedder gives nothing."""
    try:
        yield
    except ModelCallFailed as failure:
        fail(f"the embedder gave no vectors: {failure.code.value}; is its server there?")
