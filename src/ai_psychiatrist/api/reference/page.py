"""The page about the interface, made from its OpenAPI document: no script, nothing from outside."""

from collections.abc import Mapping
from importlib.resources import files
from itertools import groupby
from operator import attrgetter
from typing import Any

from ai_psychiatrist.api.problem_kinds import PROBLEM_TYPE, problem_kinds
from ai_psychiatrist.api.reference.operations import operations_of, schemas_of


def reference_page(document: Mapping[str, Any]) -> bytes:
    """Return the page in UTF-8; whatever the document says is escaped."""
    # Imported here: nobody needs it before the page is asked for.
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("ai_psychiatrist.api", "reference"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    operations = sorted(operations_of(document), key=attrgetter("tag"))
    by_tag = {tag: tuple(found) for tag, found in groupby(operations, attrgetter("tag"))}
    words = {tag["name"]: tag["description"] for tag in document.get("tags", ())}
    page = environment.get_template("reference.html.j2").render(
        document=document,
        operations=by_tag,
        tag_words=words,
        problems=problem_kinds(),
        problem_type=PROBLEM_TYPE,
        schemas=tuple(schemas_of(document)),
    )
    return page.encode()


def reference_style(_document: Mapping[str, Any]) -> bytes:
    """Return the style sheet of the page, which is the same for every document."""
    return (files("ai_psychiatrist.api") / "reference" / "reference.css").read_bytes()
