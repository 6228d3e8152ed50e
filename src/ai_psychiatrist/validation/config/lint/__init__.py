"""Check pipeline files before anything runs."""

from ai_psychiatrist.validation.config.lint.problem import LintProblem, ProblemLevel
from ai_psychiatrist.validation.config.lint.reading import lint_pipeline

__all__ = ["LintProblem", "ProblemLevel", "lint_pipeline"]
