"""Templates of prompts: Jinja2 in a sandbox that bounds what one rendering takes."""

from typing import TYPE_CHECKING, Final

from ai_psychiatrist.validation.config.template_errors import (
    TemplateFailed,
    TemplatesMissing,
    TemplateUnusable,
)

if TYPE_CHECKING:
    from ai_psychiatrist.validation.config.template_sandbox import PromptTemplate

__all__ = [
    "MOST_TEMPLATE_BYTES",
    "TemplateFailed",
    "TemplateUnusable",
    "TemplatesMissing",
    "parse_template",
]

MOST_TEMPLATE_BYTES: Final = 1 << 17


def parse_template(text: str) -> "PromptTemplate":
    """Parse a template; raises `TemplateUnusable`, or `TemplatesMissing` without Jinja2."""
    try:
        # An optional dependency.
        import jinja2  # noqa: F401, PLC0415
    except ImportError:
        msg = (
            "templates need Jinja2, which is not installed: "
            "pip install 'ai-psychiatrist[evaluation]'"
        )
        raise TemplatesMissing(msg) from None
    from ai_psychiatrist.validation.config.template_sandbox import PromptTemplate  # noqa: PLC0415

    return PromptTemplate(text)
