"""What a check of one unit gives: the object that is kept, or the errors that speak against it."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, ParamSpec, Self

from ai_psychiatrist.domain.failures import FailureStage

PathPart = str | int
Given = ParamSpec("Given")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitError:
    """One thing that is wrong with a unit, or one warning about it."""

    parts: tuple[PathPart, ...] = ()
    """Keys and positions from the top of the answer to the place."""
    rule: str
    """The rule's name, or the check's, such as `schema_type` or `range`."""
    message: str = field(repr=False)

    @property
    def path(self) -> str:
        """The place in JSONPath form, such as `$.items[0].score`."""
        return json_path(self.parts)

    @property
    def pointer(self) -> str:
        """The place as a JSON pointer, such as `/items/0/score`."""
        return json_pointer(self.parts)

    @property
    def note(self) -> dict[str, object]:
        """The error as it is written: always with place, rule and message."""
        place = {"path": self.path, "pointer": self.pointer}
        return {**place, "rule": self.rule, "message": self.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coercion:
    """One value that was read from another type or spelling."""

    parts: tuple[PathPart, ...]
    before: object = field(repr=False)
    after: object = field(repr=False)
    before_type: str
    """JSON's name of the type, with `float` and `integer` told apart."""
    after_type: str

    @classmethod
    def of(cls, parts: tuple[PathPart, ...], before: object, after: object) -> Self:
        """Return the record of a value that was read as another."""
        return cls(
            parts=parts,
            before=before,
            after=after,
            before_type=type_name(before),
            after_type=type_name(after),
        )

    @property
    def line(self) -> str:
        r"""One line for a log of coercions, such as `[COERCE] score: "5" → 5 (string → int)`.

        Values are written as JSON, so that a line end inside one stays inside its line.
        """
        name = json_path(self.parts).removeprefix("$").removeprefix(".") or "$"
        before, after = _as_json(self.before), _as_json(self.after)
        return f"[COERCE] {name}: {before} → {after} ({self.before_type} → {self.after_type})"

    @property
    def note(self) -> dict[str, object]:
        """The coercion as it is written."""
        return {
            "path": json_path(self.parts),
            "pointer": json_pointer(self.parts),
            "before": self.before,
            "after": self.after,
            "before_type": self.before_type,
            "after_type": self.after_type,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one answer."""

    value: dict[str, object] | None = field(repr=False)
    """The coerced answer as it is to be written; `None` when there is no object."""
    stage: FailureStage | None = None
    """`None` when the unit is valid."""
    errors: Sequence[UnitError] = ()
    warnings: Sequence[UnitError] = ()
    coercions: Sequence[Coercion] = ()
    skipped_rules: Sequence[str] = ()
    """Rules whose condition did not hold or named a field that is not there."""
    repaired: bool = False
    """Whether the JSON syntax was repaired."""

    @property
    def is_valid(self) -> bool:
        """Whether the unit passed."""
        return self.stage is None


def refusal(stage: FailureStage, rule: str, message: str, *parts: str) -> Verdict:
    """Return the verdict on an answer with one thing wrong and nothing to keep."""
    error = UnitError(parts=parts, rule=rule, message=message)
    return Verdict(value=None, stage=stage, errors=(error,))


def guarded(check: Callable[Given, Verdict], *given: Given.args, **named: Given.kwargs) -> Verdict:
    """Return what a check says, or the type of error and no more with which it failed itself."""
    try:
        return check(*given, **named)
    except Exception as error:  # noqa: BLE001 - one unit must not end the others
        return internal_error(error)


def internal_error(error: Exception) -> Verdict:
    """Return the verdict on a unit whose check failed itself."""
    message = f"the check failed with {type(error).__name__}"
    return refusal(FailureStage.PIPELINE_INTERNAL, "internal_error", message)


_TYPE_NAMES: Final = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def type_name(value: object) -> str:
    """Return the name under which messages and coercion records show a value's type."""
    return _TYPE_NAMES.get(type(value), "unknown")


def json_path(parts: Sequence[PathPart]) -> str:
    """Return a place in JSONPath form; keys that are no names are quoted as JSON."""
    return "$" + "".join(map(_step, parts))


def json_pointer(parts: Iterable[PathPart]) -> str:
    """Return a place as a JSON pointer, such as `/items/0/score`."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _step(part: PathPart) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if part.isidentifier() else f"[{_as_json(part)}]"


def _as_json(value: object) -> str:
    return (
        json.dumps(value, ensure_ascii=False)
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
