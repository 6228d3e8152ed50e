"""What a step hands on: the unit's context, and over it what the step's answer found."""

from collections.abc import Collection, Mapping

from ai_psychiatrist.validation.checks.host_fields import ALWAYS_PROTECTED


def is_protected(name: str, protected: Collection[str]) -> bool:
    """Return whether an answer can give no other value to a name that the context has."""
    return name in protected or name in ALWAYS_PROTECTED or name.startswith("_")


def accumulated(
    context: Mapping[str, object], answer: Mapping[str, object], *, protected: Collection[str]
) -> dict[str, object]:
    """Return the context of the next step: the answer counts, but for protected names.

    Of a host's names an answer adds none.
    """
    found = {
        name: value
        for name, value in answer.items()
        if not is_protected(name, protected) or (name in protected and name not in context)
    }
    return {**context, **found}
