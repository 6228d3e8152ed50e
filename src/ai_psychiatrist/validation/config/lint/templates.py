"""Check templates against the syntax of Jinja2 and the names that are known."""

from dataclasses import dataclass

from ai_psychiatrist.validation.config.document import MOST_PROBLEMS
from ai_psychiatrist.validation.config.lint.known_names import KnownNames
from ai_psychiatrist.validation.config.lint.steps import TEMPLATES, StepReading
from ai_psychiatrist.validation.nearest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReading:
    """What a template reads."""

    variables: frozenset[str]
    is_whole: bool
    """Whether it includes no other templates, which may read more."""


def read_variables(step: StepReading) -> TemplateReading | None:
    """Return what a step's template reads; `None` when it is none or cannot be looked at.

    Needs Jinja2, which validation itself does not; without it a warning says so.
    """
    document, location = step.document, (*TEMPLATES, step.name)
    if step.template is None:
        return None
    try:
        # An optional dependency.
        from jinja2 import TemplateSyntaxError, meta  # noqa: PLC0415
        from jinja2.sandbox import SandboxedEnvironment  # noqa: PLC0415
    except ImportError:
        message = "the template was not looked into: Jinja2 is not installed; "
        message += "pip install 'ai-psychiatrist[evaluation]'"
        document.warn(location, "template_unchecked", message)
        return None
    environment = SandboxedEnvironment(
        autoescape=True, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"]
    )
    try:
        tree = environment.parse(step.template)
        return TemplateReading(
            variables=frozenset(meta.find_undeclared_variables(tree)),
            is_whole=not any(True for _ in meta.find_referenced_templates(tree)),
        )
    except TemplateSyntaxError as error:
        message = f"line {error.lineno} of the template: {error.message}"
    except RecursionError:
        message = "the template is nested too deeply"
    except ValueError:
        message = "the template has a number of too many digits"
    document.error(location, "template_syntax", message)
    return None


def check_variables(step: StepReading, variables: frozenset[str], names: KnownNames) -> None:
    """Warn of variables that stand for nothing: a template shows them as empty."""
    for name in sorted(variables - names.context)[:MOST_PROBLEMS]:
        hint = did_you_mean(name, names.context)
        if names.is_complete or hint:
            step.document.warn(
                (*TEMPLATES, step.name),
                "unknown_variable",
                f"the template reads {name!r}, which no input and no earlier step gives{hint}",
            )
