"""Compile an expression, and check what it reads against the steps that give it."""

from dataclasses import dataclass

from ai_psychiatrist.validation.config.lint.known_names import KnownNames
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.expressions import (
    Expression,
    ExpressionKind,
    ExpressionRefused,
    FieldRead,
    compile_expression,
)
from ai_psychiatrist.validation.nearest import did_you_mean, nearest


def compiled(node: Node, kind: ExpressionKind) -> Expression | None:
    """Return the expression of a node; one that is refused is reported at its column."""
    try:
        return compile_expression(str(node.value), kind=kind)
    except ExpressionRefused as error:
        hint = "" if error.called is None else did_you_mean(error.called, error.offered)
        node.error("expression", f"{error.message}{hint}", column=error.column)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReads:
    """The names and places that the expressions of one step may read."""

    names: KnownNames
    step: StepReading

    def check_names(self, node: Node, expression: Expression, *, is_optional: bool) -> None:
        """Report names that nobody gives; `is_optional`: the expression may lack them."""
        reported: set[tuple[str, tuple[str | int, ...]]] = set()
        for read in expression.reads:
            key = (read.name, read.keys[:1])
            if key not in reported:
                reported.add(key)
                self.names.check_read(
                    node, read.name, read.keys, is_optional=is_optional or read.is_guarded
                )

    def check_places(self, node: Node, expression: Expression) -> None:
        """Report keys and types that the schemas rule out."""
        for read in expression.reads:
            self._inner_keys(node, read)
        self._types(node, expression)

    def _inner_keys(self, node: Node, read: FieldRead) -> None:
        """Report a key inside a field that the schema of its step names otherwise."""
        way, giver = _way(read), self._giver(read)
        for length in range(1, len(way)):
            key = way[length]
            known = None if giver is None else giver.names_at(way[:length])
            if isinstance(key, str) and known and key not in known:
                report = node.warn if nearest(key, known) is None else node.error
                message = f"the schema names no {key!r} there{did_you_mean(key, known)}"
                report("unknown_name", message)
                return

    def _types(self, node: Node, expression: Expression) -> None:
        """Report comparisons with a constant of a type that the field never has."""
        for read, kind in expression.compared_types:
            giver = self._giver(read)
            allowed = None if giver is None else giver.types_at(_way(read))
            if (
                giver is None
                or allowed is None
                or kind in allowed
                or (kind == "number" and "integer" in allowed)
            ):
                continue
            types = " or ".join(sorted(allowed))
            place = "the schema" if giver is self.step else f"the step {giver.name!r}"
            message = f"{_way(read)[0]!r} is {types} in {place}, here it is a {kind}"
            node.error("type_conflict", message)

    def _giver(self, read: FieldRead) -> StepReading | None:
        """Return the step whose answer gives what is read; `None` for inputs of the context."""
        way = _way(read)
        name = str(way[0]) if way else ""
        is_own = read.name == "out" or (
            read.name != "inp" and name in self.names.answer and name not in self.names.protected
        )
        return self.step if is_own else self.names.given_by.get(name)


def _way(read: FieldRead) -> tuple[str | int, ...]:
    """Return the way from an answer or the context to the place that is read."""
    return read.keys if read.name in {"out", "inp"} else (read.name, *read.keys)
