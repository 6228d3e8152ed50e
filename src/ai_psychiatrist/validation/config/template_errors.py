"""What can be wrong with a template: its text, or its rendering for one unit."""

from typing import Literal, TypeAlias

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError

TemplateFailure: TypeAlias = Literal["missing_variable", "template_too_large", "template_failed"]


class TemplatesMissing(ConfigurationError):
    """Jinja2, an optional dependency, is not installed."""


class TemplateUnusable(ConfigurationError):
    """A text is no template; the message says where."""


class TemplateFailed(AssessmentServiceError):
    """A template cannot be rendered for one unit; the message holds no value of it."""

    def __init__(self, code: TemplateFailure, message: str) -> None:
        super().__init__(message)
        self.code: TemplateFailure = code
