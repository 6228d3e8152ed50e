"""What expressions see of one unit, and how much work they may do on it."""

from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType
from typing import Final, NoReturn

from ai_psychiatrist.validation.expressions.errors import EvaluationFailed

UNIT_STEPS: Final = 100_000
"""Steps of work for all expressions of one unit: one is about one element of a collection."""

_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_NO_HOST: Final[Mapping[str, Callable[..., object]]] = MappingProxyType({})


class Names(dict[str, object]):
    """The names of one unit; one that is not there fails the evaluation."""

    __slots__ = ()

    def __missing__(self, name: str) -> NoReturn:
        """Fail for a name that is not there."""
        raise EvaluationFailed("unknown_name", name)


class Scope:
    """One unit as its expressions see it.

    A bare name is the answer's field, else the input's; a protected name is the input's first.
    `out`, `inp` and `meta` are the whole namespaces and hide fields of these names. A scope
    serves one unit: the steps its expressions take add up.
    """

    __slots__ = ("host", "names", "steps_left")

    def __init__(
        self,
        *,
        out: Mapping[str, object],
        inp: Mapping[str, object] = _NOTHING,
        meta: Mapping[str, object] = _NOTHING,
        protected: frozenset[str] = frozenset(),
        host: Mapping[str, Callable[..., object]] = _NO_HOST,
        steps: int = UNIT_STEPS,
    ) -> None:
        names = Names(inp)
        names.update(out)
        for name in protected:
            if name in inp:
                names[name] = inp[name]
        names["out"] = out if type(out) is dict else dict(out)
        names["inp"] = inp if type(inp) is dict else dict(inp)
        names["meta"] = meta if type(meta) is dict else dict(meta)
        self.names = names
        self.host = host
        self.steps_left = steps

    def charge(self, steps: int) -> None:
        """Take steps off what the unit has left; fail the evaluation when too few are left."""
        self.steps_left -= steps
        if self.steps_left < 0:
            raise EvaluationFailed("budget", None)


class StepScope(Scope):
    """One unit as an expression step sees it: bare names alone, and its own random numbers."""

    __slots__ = ("random",)

    def __init__(self, names: Mapping[str, object], generator: Random) -> None:
        super().__init__(out={})
        self.names = Names(names)
        self.random = generator
