"""What can be wrong with an expression: its text, or its evaluation against one unit."""

from typing import Literal, TypeAlias

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError

FailureKind: TypeAlias = Literal[
    "unknown_name", "missing_key", "wrong_type", "budget", "arithmetic", "endless_loop"
]


class ExpressionRefused(ConfigurationError):
    """An expression uses something that is not offered, or is no expression at all."""

    def __init__(
        self,
        message: str,
        column: int,
        *,
        place: str | None = None,
        called: str | None = None,
        offered: frozenset[str] = frozenset(),
    ) -> None:
        where = f"{message} (column {column})"
        super().__init__(where if place is None else f"{place}: {where}")
        self.message = message
        """What is refused, without its position."""
        self.column = column
        """Counted from 1."""
        self.called = called
        """The function that is not offered, where that is what is refused."""
        self.offered = offered
        """The functions that are, in its place."""


class EvaluationFailed(AssessmentServiceError):
    """An expression has no value for one unit."""

    def __init__(self, kind: FailureKind, name: str | None, *, field: str | None = None) -> None:
        what = kind if name is None else f"{kind}: {name!r}"
        super().__init__(what if field is None else f"{field}: {what}")
        self.kind: FailureKind = kind
        self.name = name
        """The field or key as the expression's text names it; `None` when it names none."""
        self.field = field
        """The field of an expression step that has no value, or `loop_until`."""

    @property
    def reason(self) -> str:
        """The rest of a sentence that begins with the expression."""
        value = "a value" if self.name is None else f"the field {self.name!r}"
        return _REASONS[self.kind].format(value=value)


_REASONS: dict[FailureKind, str] = {
    "unknown_name": "needs {value}, which is not there",
    "missing_key": "needs {value}, which is not there",
    "arithmetic": "cannot calculate with {value}: it divides by zero or leaves the numbers",
    "wrong_type": "cannot use {value}: a value has the wrong type for it",
    "budget": "needs more steps for this unit than are allowed",
    "endless_loop": "does not hold after as many rounds as are allowed",
}
