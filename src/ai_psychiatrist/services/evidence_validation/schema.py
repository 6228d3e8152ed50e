"""Check the shape of the evidence that a model extracted; nothing is coerced."""

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS


class EvidenceSchemaError(AssessmentServiceError, ValueError):
    """The evidence does not have the shape that was asked for.

    `violations`: item key, or `__root__`, → what was expected and which type came; no values.
    """

    def __init__(self, message: str, violations: dict[str, str]) -> None:
        super().__init__(message)
        self.violations = violations


def validate_evidence_schema(obj: object) -> dict[str, list[str]]:
    """Return the quotes of each of the eight items, stripped, without blanks and repetitions.

    A missing or null key is an empty list; keys that name no item are ignored. Raises
    `EvidenceSchemaError` with every violation when the top level is no object or a value is not a
    list of strings.
    """
    if not isinstance(obj, dict):
        found = type(obj).__name__
        raise EvidenceSchemaError(
            f"Expected JSON object at top level, got {found}",
            violations={"__root__": f"Expected object, got {found}"},
        )
    violations = {
        key: violation
        for key in PHQ8_DOMAIN_KEYS
        if (violation := _violation(obj.get(key))) is not None
    }
    if violations:
        raise EvidenceSchemaError(
            f"Evidence schema violations in {len(violations)} fields", violations=violations
        )
    return {key: _clean(obj.get(key) or []) for key in PHQ8_DOMAIN_KEYS}


def _violation(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, list):
        return f"Expected list, got {type(value).__name__}"
    for index, element in enumerate(value):
        if not isinstance(element, str):
            return f"Expected list[str] but element {index} was {type(element).__name__}"
    return None


def _clean(quotes: list[str]) -> list[str]:
    return list(dict.fromkeys(stripped for quote in quotes if (stripped := quote.strip())))
