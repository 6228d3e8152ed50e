"""What a test expects to be refused, by the code that a caller is told."""

from contextlib import AbstractContextManager

import pytest

from ai_psychiatrist.domain.errors import AssessmentServiceError


def refused(
    problem_code: str,
) -> AbstractContextManager[pytest.ExceptionInfo[AssessmentServiceError]]:
    """Expect an error with this code in the block."""
    return pytest.raises(
        AssessmentServiceError, check=lambda error: error.problem_code == problem_code
    )
