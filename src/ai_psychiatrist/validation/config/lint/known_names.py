"""Decide whether a name that a pipeline uses can mean anything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.validation.checks.fields.paths import top_name
from ai_psychiatrist.validation.checks.host_fields import METADATA, RETRY_COUNT, UNIT_ID
from ai_psychiatrist.validation.checks.step_config import RuleBlock
from ai_psychiatrist.validation.config.lint.inputs import Inputs
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.expressions import is_local
from ai_psychiatrist.validation.nearest import did_you_mean

ALWAYS_THERE: Final = frozenset({UNIT_ID, RETRY_COUNT, METADATA})

NAMESPACES: Final = frozenset({"out", "inp", "meta"})


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """The names that one step can use."""

    answer: frozenset[str]
    """What the step itself gives."""
    context: frozenset[str]
    """What inputs and earlier steps give."""
    is_complete: bool
    """Whether there can be no other names."""
    protected: frozenset[str] = frozenset()
    """What no answer overrides, by any step's block."""
    given_by: Mapping[str, StepReading] = field(default_factory=dict, repr=False)
    """Names of the context, with the last earlier step whose answer gives each."""

    @property
    def all(self) -> frozenset[str]:
        """Every name."""
        return self.answer | self.context

    def check(self, node: Node, name: str, *, is_optional: bool = False) -> None:
        """Report a bare name that nobody gives; `is_optional`: the text allows for its absence."""
        meaning = "is in no schema of this or an earlier step and in no input"
        self._check(node, name, self.all, meaning, is_optional=is_optional)

    def check_own(self, node: Node, name: str, *, is_optional: bool = False) -> None:
        """Report a name that the step itself does not give."""
        meaning = "is no field of this step's own"
        self._check(node, name, self.answer, meaning, is_optional=is_optional)

    def check_context(self, node: Node, name: str, *, is_optional: bool = False) -> None:
        """Report a name that neither inputs nor earlier steps give."""
        meaning = "is neither an input nor a field of an earlier step"
        self._check(node, name, self.context, meaning, is_optional=is_optional)

    def check_read(
        self, node: Node, name: str, keys: tuple[str | int, ...], *, is_optional: bool
    ) -> None:
        """Report an unknown name that an expression reads, looked up in its namespace."""
        inner = keys[0] if keys else None
        if name not in NAMESPACES:
            self.check(node, name, is_optional=is_optional)
        elif name == "out" and isinstance(inner, str):
            self.check_own(node, inner, is_optional=is_optional)
        elif name == "inp" and isinstance(inner, str):
            self.check_context(node, inner, is_optional=is_optional)

    def _check(
        self, node: Node, name: str, known: frozenset[str], meaning: str, *, is_optional: bool
    ) -> None:
        """Report a name outside of those known.

        It is an error when it looks misspelt: what is skipped for a slip would never be missed.
        """
        if name in known:
            return
        hint = did_you_mean(name, known)
        is_error = bool(hint) or (self.is_complete and not is_optional)
        if not hint and not self.is_complete:
            hint = "; list it in processing.inputs if the context brings it"
        report = node.error if is_error else node.warn
        report("unknown_name", f"{name!r} {meaning}{hint}")


def described_names(step: StepReading) -> frozenset[str]:
    """Return the fields that a step's schema names, or that its expressions hand on."""
    found: set[str] = set()
    if step.fields is not None:
        found |= step.fields.names
    expressions = step.config.expressions
    if expressions is not None:
        both = (*expressions.init, *expressions.expressions)
        found |= {name for name in both if not is_local(name)}
    return frozenset(found)


def _checked_names(block: RuleBlock | None) -> frozenset[str]:
    """Return the fields that a block speaks of as the answer's."""
    if block is None:
        return frozenset()
    required = set(block.required) - set(block.inherited)
    return frozenset(map(top_name, (*required, *block.types, *block.enums, *block.ranges)))


def known_names(steps: list[StepReading], inputs: Inputs) -> list[KnownNames]:
    """Return what each step can use, in the order of the steps."""
    context = inputs.names | ALWAYS_THERE
    found: list[KnownNames] = []
    given_by: dict[str, StepReading] = {}
    blocks = [step.block for step in steps if step.block is not None]
    protected = frozenset(name for block in blocks for name in block.protected)
    for step in steps:
        own = described_names(step) | _checked_names(step.block)
        names = KnownNames(
            answer=own,
            context=context,
            is_complete=inputs.is_complete,
            protected=protected,
            given_by=dict(given_by),
        )
        found.append(names)
        given_by |= dict.fromkeys(own - (protected & context), step)
        context |= own
    return found
