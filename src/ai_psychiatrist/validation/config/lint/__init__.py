"""Check pipeline files before anything runs."""

from ai_psychiatrist.validation.config.lint.pipeline_lint import lint_pipeline
from ai_psychiatrist.validation.config.problem import LintProblem, ProblemLevel

__all__ = ["LintProblem", "ProblemLevel", "lint_pipeline"]
