"""Templates of prompts: Jinja2 in a sandbox that counts every operation without a bound.

Loops, calls, operators, filters and tests take steps from one budget before they do their work, so
that a template from elsewhere ends within seconds and within some 100 MB. The counting does not
depend on the machine: a template is stopped everywhere or nowhere.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, wraps
from typing import Any, Final, Literal, TypeAlias

from jinja2 import (
    Environment,
    StrictUndefined,
    Template,
    TemplateSyntaxError,
    UndefinedError,
    meta,
    nodes,
    pass_context,
)
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError

MAX_STEPS: Final = 500_000
"""For one rendering: a step is a round of a loop, a call, a value or 64 characters."""
CHARACTERS_PER_STEP: Final = 64
NODES_PER_STEP: Final = 8
"""Parts of the body of a loop or macro that cost one step more."""
MAX_WIDTH: Final = 1000
"""A format may have no width of so many characters or more."""
MAX_BITS: Final = 1024
"""Longer whole numbers are not multiplied."""

_METHODS: Final = frozenset(
    """capitalize casefold copy count endswith find format format_map get index isalnum isalpha
    isdecimal isdigit islower isnumeric isspace istitle isupper items join keys lower lstrip
    partition removeprefix removesuffix replace rfind rindex rpartition rsplit rstrip split
    splitlines startswith strip swapcase title upper values""".split()
)
"""Of texts, lists, objects and numbers."""
_WIDENING: Final = frozenset(
    "batch center indent join replace round slice tojson wordwrap xmlattr".split()
)
"""Filters and methods whose result grows with the product of what they are given."""
_FORMATS: Final = frozenset({"format", "format_map"})
_WIDE_PERCENT: Final = re.compile(r"\d{4}[a-zA-Z%]|\d{4}\.\d*[a-zA-Z]|%[^a-zA-Z%(]*\*")
_WIDE_PLACE: Final = re.compile(r"\{[^{}]*(?:\{|\d{4})")
"""A width of four digits or more, or one that is a value itself."""
_JINJAS_OWN: Final = (Context, Environment, nodes.EvalContext)
"""What Jinja2 gives to some filters first."""
_BUILT_IN: Final = (str, bytes, list, tuple, dict, set, frozenset, int, float)


TemplateFailure: TypeAlias = Literal["missing_variable", "template_too_large", "template_failed"]


class TemplateUnusable(ConfigurationError):
    """A text is no template; the message says where."""


class TemplateFailed(AssessmentServiceError):
    """A template cannot be rendered for one unit; the message holds no value of it."""

    def __init__(self, code: TemplateFailure, message: str) -> None:
        super().__init__(message)
        self.code: TemplateFailure = code


class TemplateTooLarge(AssessmentServiceError):
    """A template needs more work than one rendering may take; the message says for what."""


class Budget:
    """The steps that one rendering has left."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_STEPS

    def charge(self, steps: int, what: str) -> None:
        """Take steps for `what`; raises `TemplateTooLarge` when too few are left."""
        self.left -= steps
        if self.left < 0:
            msg = f"{what} needs more than the {MAX_STEPS:,} steps that a template may take"
            raise TemplateTooLarge(msg)

    def weigh(self, value: object, what: str) -> int:
        """Charge for a value and for all that is inside of it; return the steps."""
        before, waiting = self.left, [value]
        while waiting:
            match waiting.pop():
                case str() | bytes() as text:
                    self.charge(len(text) // CHARACTERS_PER_STEP + 1, what)
                case int() as number:
                    self.charge(number.bit_length() // MAX_BITS + 1, what)
                case dict() as inner:
                    self.charge(len(inner) + 1, what)
                    waiting += [*inner.keys(), *inner.values()]
                case list() | tuple() | set() | frozenset() as inner:
                    self.charge(len(inner) + 1, what)
                    waiting += inner
                case Collection() as inner:
                    self.charge(len(inner) + 1, what)
                case _:
                    self.charge(1, what)
        return before - self.left

    def widen(self, values: Sequence[object], what: str) -> None:
        """Charge for a result as large as the first value times all others.

        Whole numbers among the others count as so many characters.
        """
        first, *others = [self._characters(value, what) for value in values]
        numbers = sum(abs(value) for value in values[1:] if isinstance(value, int))
        self.charge(first * (1 + sum(others) + numbers) // CHARACTERS_PER_STEP, what)

    def _characters(self, value: object, what: str) -> int:
        steps = self.weigh(value, what)
        return len(value) if isinstance(value, str) and value else steps * CHARACTERS_PER_STEP

    def fill_in(self, places: int, values: Sequence[object], what: str) -> None:
        """Charge for values that are put into so many places of the text that stands first."""
        text, *others = values
        size = sum(self._characters(value, what) for value in others)
        whole = self._characters(text, what) + places * (size + MAX_WIDTH)
        self.charge(whole // CHARACTERS_PER_STEP, what)


_BUDGET: Final[ContextVar[Budget]] = ContextVar("budget")


class PromptTemplate:
    """A template that was parsed."""

    def __init__(self, text: str) -> None:
        """Parse a text; raises `TemplateUnusable`."""
        self._environment = _BoundedEnvironment()
        with _budget(), _unusable():
            tree = self._environment.parse(text)
            self.variables = frozenset(meta.find_undeclared_variables(tree))
            """Names that a rendering reads."""
            self.includes = any(True for _ in meta.find_referenced_templates(tree))
            """Whether it takes in other templates, which may read more."""
            self._tree = self._environment.bounded(tree)

    @cached_property
    def _template(self) -> Template:
        with _budget(), _unusable():
            return self._environment.from_string(self._tree)

    def compile(self) -> None:
        """Make it ready to be rendered; raises `TemplateUnusable`."""
        _ = self._template

    def render(self, values: Mapping[str, object]) -> str:
        """Return the text for one unit; raises `TemplateFailed`, which holds no value of it."""
        template = self._template
        try:
            with _budget():
                return template.render(values)
        except UndefinedError:
            lacking = ", ".join(map(repr, sorted(self.variables - values.keys())))
            what = lacking or "a field inside a variable"
            message = f"the template reads what the unit does not have: {what}"
            problem = TemplateFailed("missing_variable", message)
        except (RecursionError, OverflowError, MemoryError):
            message = "the template is stopped: a range, a number or what calls itself is too large"
            problem = TemplateFailed("template_too_large", message)
        except TemplateTooLarge as error:
            problem = TemplateFailed("template_too_large", f"the template is stopped: {error}")
        except Exception as error:  # noqa: BLE001  a template is a program and may fail in any way
            message = f"the template failed with {type(error).__name__}"
            problem = TemplateFailed("template_failed", message)
        raise problem


@contextmanager
def _budget() -> Iterator[None]:
    """Give what runs inside the block a budget of its own."""
    token = _BUDGET.set(Budget())
    try:
        yield
    finally:
        _BUDGET.reset(token)


@contextmanager
def _unusable() -> Iterator[None]:
    try:
        yield
        return
    except TemplateSyntaxError as error:
        message = f"line {error.lineno} of the template: {error.message}"
    except (RecursionError, MemoryError, SyntaxError):
        message = "the template is nested too deeply"
    except ValueError:
        message = "the template has a number of too many digits"
    raise TemplateUnusable(message)


class _BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, in which one template takes its steps from its budget."""

    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)

    def __init__(self) -> None:
        super().__init__(
            autoescape=False,
            undefined=StrictUndefined,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
            finalize=_written,
        )
        self.call_steps = 1
        """The most that a call of a macro or block of the template costs."""
        del self.globals["lipsum"]
        for table, kind in ((self.filters, "filter"), (self.tests, "test")):
            for name, run in table.items():
                if callable(run):
                    table[name] = _counted(run, name, f"the {kind} {name!r}")
        self.filters |= {"_walk": _walk, "_weigh": _weigh}
        self.filters |= {"_slice": _slice, "_concatenate": _concatenate}

    def bounded(self, tree: nodes.Template) -> nodes.Template:
        """Return a template with its loops, comparisons, slices and joined texts counted."""
        called = tree.find_all((nodes.Macro, nodes.CallBlock, nodes.Block, nodes.For))
        self.call_steps = max(map(_weight, called), default=1)
        for loop in [*tree.find_all(nodes.For)]:
            loop.iter = _filtered(loop.iter, "_walk", nodes.Const(_weight(loop)))
        for compared in [*tree.find_all(nodes.Compare)]:
            compared.expr = _filtered(compared.expr, "_weigh")
            for operand in compared.ops:
                operand.expr = _filtered(operand.expr, "_weigh")
        for joined in [*tree.find_all(nodes.Concat)]:
            joined.nodes = [_filtered(nodes.List(joined.nodes), "_concatenate")]
        for item in [*tree.find_all(nodes.Getitem)]:
            if isinstance(item.arg, nodes.Slice):
                ends = (item.arg.start, item.arg.stop, item.arg.step)
                item.node = _filtered(
                    item.node, "_slice", *(end or nodes.Const(None) for end in ends)
                )
                item.arg = nodes.Slice(None, None, None)
        tree.set_environment(self)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> object:  # noqa: ANN401
        """Return what an operator gives, once its work is paid."""
        budget, what = _BUDGET.get(), f"the operator {operator!r}"
        if operator == "%" and isinstance(left, str):
            _charge("format", (left, right), what, wide=_WIDE_PERCENT)
        elif operator in {"*", "**"} and isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length()
            bits = bits * right if operator == "**" else bits + right.bit_length()
            budget.charge((MAX_STEPS + 1) * (bits > MAX_BITS), what)
        elif operator == "*":
            budget.widen((right, left) if isinstance(left, int) else (left, right), what)
        else:
            budget.weigh((left, right), what)
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, called: object, /, *args: object, **kwargs: object) -> object:
        """Return what a macro, function or method gives, once its work is paid."""
        budget, name = _BUDGET.get(), getattr(called, "__name__", None)
        what = "a call of a macro" if name is None else f"a call of {name!r}"
        given = [*args, *(value for key, value in kwargs.items() if key[0] != "_")]
        budget.charge(self.call_steps, what)
        owner = getattr(getattr(called, "__wrapped__", called), "__self__", None)
        if isinstance(owner, _BUILT_IN):
            if name not in _METHODS:
                msg = f"the method {name!r} is not offered to templates"
                raise TemplateTooLarge(msg)
            given.insert(0, owner)
        _charge(str(name), given, what, wide=_WIDE_PLACE)
        return super().call(context, called, *args, **kwargs)


def _charge(name: str, given: Sequence[object], what: str, *, wide: re.Pattern[str]) -> None:
    """Charge for an operation by what it is given; `wide`: widths that no format may have."""
    budget = _BUDGET.get()
    budget.weigh(given, what)
    if name in _FORMATS:
        text = str(given[0])
        if wide.search(text):
            msg = f"{what} has a width of more than {MAX_WIDTH - 1} characters"
            raise TemplateTooLarge(msg)
        budget.fill_in(text.count("%") + text.count("{"), given, what)
    elif name == "replace" and len(given) > 2:
        budget.fill_in(str(given[0]).count(str(given[1])), given, what)
    elif name in _WIDENING:
        budget.widen(given, what)


def _filtered(node: nodes.Node, name: str, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, [*arguments], [], None, None)


def _weight(node: nodes.Node) -> int:
    """Return the steps that one round through a node costs, by its parts and its own text."""
    parts = list(node.find_all(nodes.Node))
    text = sum(len(part.data) for part in parts if isinstance(part, nodes.TemplateData))
    return 1 + len(parts) // NODES_PER_STEP + text // CHARACTERS_PER_STEP


def _counted(run: Callable[..., Any], name: str, what: str) -> Callable[..., object]:
    """Return a filter or test that is paid by what it is given, and gives no endless iterator."""

    @wraps(run)
    def counted(*args: object, **kwargs: object) -> object:
        given = [one for one in (*args, *kwargs.values()) if not isinstance(one, _JINJAS_OWN)]
        if name == "sum" and any(isinstance(value, list) for value in given[1:]):
            msg = "the filter 'sum' adds only numbers"
            raise TemplateTooLarge(msg)
        _charge(name, given, what, wide=_WIDE_PERCENT)
        result = run(*args, **kwargs)
        return list(_each(result, 1, what)) if isinstance(result, Iterator) else result

    return counted


def _each(values: Iterable[object], weight: int, what: str) -> Iterator[object]:
    budget = _BUDGET.get()
    for value in values:
        budget.charge(weight, what)
        yield value


@pass_context
def _walk(_: Context, values: Iterable[object], weight: int) -> Iterator[object]:
    return _each(values, weight, "a loop")


@pass_context
def _weigh(_: Context, value: object) -> object:
    _BUDGET.get().weigh(value, "a comparison")
    return value


@pass_context
def _slice(
    _: Context, value: list[object], start: int | None, stop: int | None, step: int | None
) -> object:
    taken = value[start:stop:step]
    _BUDGET.get().weigh(taken, "a slice")
    return taken


@pass_context
def _concatenate(_: Context, values: list[object]) -> str:
    _BUDGET.get().weigh(values, "the operator '~'")
    return "".join(map(str, values))


@pass_context
def _written(_: Context, value: object) -> str:
    _BUDGET.get().weigh(value, "the text that it writes")
    return str(value)
