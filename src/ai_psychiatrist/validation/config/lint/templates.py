"""Check templates against the syntax of Jinja2 and the names that are known."""

from dataclasses import dataclass

from ai_psychiatrist.validation.config.document import MOST_PROBLEMS
from ai_psychiatrist.validation.config.lint.known_names import KnownNames
from ai_psychiatrist.validation.config.lint.step_files import TemplateFile
from ai_psychiatrist.validation.config.nearest import did_you_mean, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReading:
    """What a template reads."""

    variables: frozenset[str]
    is_whole: bool
    """Whether it includes no other templates, which may read more."""


def read_variables(template: TemplateFile) -> TemplateReading | None:
    """Return what a template reads; `None` when it is none or cannot be looked at.

    Needs Jinja2, which validation itself does not; without it a warning says so.
    """
    try:
        # An optional dependency.
        from jinja2 import TemplateSyntaxError, meta  # noqa: PLC0415
        from jinja2.sandbox import SandboxedEnvironment  # noqa: PLC0415
    except ImportError:
        template.node.warn(
            "template_unchecked",
            "the template was not looked into: Jinja2 is not installed; "
            "pip install 'ai-psychiatrist[evaluation]'",
        )
        return None
    environment = SandboxedEnvironment(
        autoescape=True, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"]
    )
    try:
        tree = environment.parse(template.text)
        return TemplateReading(
            variables=frozenset(meta.find_undeclared_variables(tree)),
            is_whole=not any(True for _ in meta.find_referenced_templates(tree)),
        )
    except TemplateSyntaxError as error:
        message = f"line {error.lineno} of the template {template.path.name!r}: {error.message}"
        template.node.error("template_syntax", message)
    except RecursionError:
        template.node.error("template_syntax", "the template is nested too deeply")
    except ValueError:
        template.node.error("template_syntax", "the template has a number of too many digits")
    return None


def check_variables(template: TemplateFile, variables: frozenset[str], names: KnownNames) -> None:
    """Warn of variables that stand for nothing: a template shows them as empty."""
    for name in sorted(variables - names.context)[:MOST_PROBLEMS]:
        if names.is_complete or nearest(name, names.context) is not None:
            template.node.warn(
                "unknown_variable",
                f"the template reads {name!r}, which no input and no earlier step gives"
                + did_you_mean(name, names.context),
            )
