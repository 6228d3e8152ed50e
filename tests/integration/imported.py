"""All that a command may import and read, so that what is forked from here need not do it again."""

import gc
import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, TypeAdapter

_EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "interview.txt"
_IMPORTED_LATE: Final = (
    "anyio._backends._asyncio",
    "certifi",
    "genai_prices.data",
    "httpcore",
    "jinja2.sandbox",
    "jiter",
    "numpy.ma",
    "numpy.random",
    "openai.resources.chat",
    "rich._emoji_codes",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
"""What libraries import when they are first used."""


@cache
def import_all() -> None:
    """Import every module that a command may need, and read what most of them read.

    It starts no thread, opens no event loop and reads no setting.
    """
    import ai_psychiatrist  # noqa: PLC0415

    for module in pkgutil.walk_packages(ai_psychiatrist.__path__, "ai_psychiatrist."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in _IMPORTED_LATE:
        importlib.import_module(name)
    _read_phrases()
    _read_contract()
    _read_certificates()
    _load_reader()
    _look_into_routes()
    for kept in gc.get_objects():
        if type(kept) is TypeAdapter:
            kept.rebuild(raise_errors=False)
    _build_models(BaseModel)


def _build_models(family: type[BaseModel]) -> None:
    """Build the validators of our models, which are built when they are first used."""
    for model in family.__subclasses__():
        if model.__module__.startswith("ai_psychiatrist."):
            model.model_rebuild(raise_errors=False)
        _build_models(model)


def _read_phrases() -> None:
    """Read those of the example interview: a phrase is taken apart when it is first met."""
    from ai_psychiatrist.agents.baseline.signals import analyse  # noqa: PLC0415
    from ai_psychiatrist.domain.phq8 import Item  # noqa: PLC0415
    from ai_psychiatrist.services.risk.detector import detect_risk  # noqa: PLC0415
    from ai_psychiatrist.services.transcripts.plain_text import parse_transcript  # noqa: PLC0415

    text = _EXAMPLE.read_text("utf-8")
    detect_risk(parse_transcript(text))
    analysis = analyse(parse_transcript(text))
    for item in Item:
        analysis.quotes(item)


def _read_certificates() -> None:
    from ai_psychiatrist.llm.http_client import trusted_certificates  # noqa: PLC0415

    trusted_certificates()


def _load_reader() -> None:
    """Load the learned reader, which each child would otherwise read anew: 100 MB of its own."""
    from ai_psychiatrist.services.reader.second_voice import SecondVoice  # noqa: PLC0415

    SecondVoice(is_enabled=True).state()


def _look_into_routes() -> None:
    """Look into the routes once, which each server would otherwise do when it opens."""
    from fastapi.routing import iter_route_contexts  # noqa: PLC0415

    from ai_psychiatrist.api.app import create_app  # noqa: PLC0415
    from ai_psychiatrist.config import load_settings  # noqa: PLC0415

    for _ in iter_route_contexts(create_app(load_settings({}, dotenv=None)).routes):
        pass


def _read_contract() -> None:
    from ai_psychiatrist.agents.contracts import contract  # noqa: PLC0415

    for step in contract.shipped_contract().steps:
        contract.shipped_step(step.name)
