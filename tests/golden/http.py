"""The HTTP server: every route, well and badly asked, with models and doors of all kinds."""

import gc
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import assessing
from tests.golden.http_bodies import bodies
from tests.golden.http_broken import broken
from tests.golden.http_documents import documents
from tests.golden.http_doors import doors
from tests.golden.http_interviews import interviews
from tests.golden.http_jobs import jobs
from tests.golden.http_limits import limits
from tests.golden.http_metrics import metrics
from tests.golden.http_models import models
from tests.golden.http_origins import origins
from tests.golden.http_pages import pages
from tests.golden.http_records import records
from tests.golden.http_reviews import reviews
from tests.golden.ways import scratch

_PARTS: Final = (
    documents,
    assessing,
    bodies,
    models,
    records,
    reviews,
    jobs,
    interviews,
    doors,
    origins,
    limits,
    metrics,
    broken,
    pages,
)
"""Each is given an empty folder."""


def answers() -> Iterator[Answer]:
    """Yield what each request is answered, and in the end which problems were met."""
    met: set[str] = set()
    told: set[str] = set()
    with _without_collector():
        for part in _PARTS:
            with scratch() as folder:
                for answer in part(folder):
                    met |= set(_problems(answer.value))
                    if answer.name == "document/problems":
                        told |= met
                        met.clear()
                    yield answer
    value: Json = {"met": sorted(met), "never met": sorted(told - met), "told": len(told)}
    yield Answer(name="problems", value=value)


def _problems(value: Json) -> Iterator[str]:
    """Yield status and code of each problem in a value."""
    if isinstance(value, str):
        found = _BRIEF.search(value)
        if found is not None:
            yield f"{found[1]}:{found[2]}"
    elif isinstance(value, Mapping):
        if str(value.get("type")).startswith("urn:ai-psychiatrist:problem:"):
            yield f"{value['status']}:{value['code']}"
        for one in value.values():
            yield from _problems(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from _problems(one)


_BRIEF: Final = re.compile(r"\b([45]\d\d)[:|]([a-z]+_?[a-z_]+)\b")
"""As tables of many requests have them."""


@contextmanager
def _without_collector() -> Iterator[None]:
    """Look for no garbage meanwhile: of a hundred applications that takes a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
