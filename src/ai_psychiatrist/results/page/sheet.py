"""One assessment as one HTML file that needs nothing else: no network, no other file."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from ai_psychiatrist.results.page.environment import PACKAGE, environment
from ai_psychiatrist.results.page.views import SheetView

_POLICY: Final = (
    "default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def sheet_html(view: SheetView) -> str:
    """Return the page of an assessment, which holds what was said."""
    return file_html("sheet.html", script="sheet.js", view=view)


def file_html(template: str, *, script: str, **shown: object) -> str:
    """Return a page with its style and its script in it, and a policy that allows no others."""
    from markupsafe import Markup  # noqa: PLC0415 - slow to load

    style_text, script_text = packaged("sheet.css"), packaged(script)
    policy = _POLICY.format(style=_source(style_text), script=_source(script_text))
    return (
        environment()
        .get_template(template)
        .render(
            policy=policy,
            style=Markup(style_text),  # noqa: S704 - a file of this package
            script=Markup(script_text),  # noqa: S704 - a file of this package
            **shown,
        )
    )


@cache
def packaged(name: str) -> str:
    """Return a file that stands beside the templates."""
    return (files(PACKAGE) / "templates" / name).read_text("utf-8")


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
