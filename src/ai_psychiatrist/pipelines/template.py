"""What a step asks, written for one unit."""

from collections.abc import Mapping
from pathlib import Path

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.validation.config.lint.step_files import MOST_TEMPLATE_BYTES


class NotRendered(Exception):
    """A template does not go with a unit; the message names variables alone, no values."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class StepTemplate:
    """A template in the sandbox of Jinja2; a variable that is not there is a failure."""

    def __init__(self, path: Path) -> None:
        """Read and compile a template.

        Raises `ConfigurationError` when it includes others, or Jinja2 is not installed.
        """
        try:
            # An optional dependency.
            from jinja2 import StrictUndefined, meta  # noqa: PLC0415
            from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415
        except ImportError:
            msg = (
                "templates need Jinja2, which is not installed: "
                "pip install 'ai-psychiatrist[evaluation]'"
            )
            raise ConfigurationError(msg) from None
        environment = ImmutableSandboxedEnvironment(
            autoescape=False,
            undefined=StrictUndefined,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        )
        text = read_regular(path, most_bytes=MOST_TEMPLATE_BYTES).decode("utf-8-sig")
        tree = environment.parse(text)
        if any(True for _ in meta.find_referenced_templates(tree)):
            msg = f"the template {path.name!r} includes another: write it in one file"
            raise ConfigurationError(msg)
        self._variables = meta.find_undeclared_variables(tree)
        self._template = environment.from_string(text)

    def render(self, known: Mapping[str, object]) -> str:
        """Return the text for a unit; raises `NotRendered`."""
        from jinja2 import UndefinedError  # noqa: PLC0415

        try:
            return self._template.render(known)
        except UndefinedError:
            lacking = sorted(self._variables - known.keys())
            which = ", ".join(map(repr, lacking)) or "a field inside a variable"
            message = f"the template reads what the unit does not have: {which}"
            raise NotRendered("missing_variable", message) from None
        except Exception as error:  # noqa: BLE001  a template is a program and may fail in any way
            message = f"the template failed with {type(error).__name__}"
            raise NotRendered("template_failed", message) from None
