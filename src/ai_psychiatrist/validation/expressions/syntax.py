"""Read the text of an expression into a tree, within limits that keep the reader itself safe."""

import ast
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Final

from ai_psychiatrist.validation.expressions.refusal import ExpressionRefused

MAX_CHARACTERS: Final = 2_000
MAX_DEPTH: Final = 80
MAX_BRACKETS: Final = 60
"""Brackets that may stand inside one another."""
MAX_TEXT: Final = 1_000
"""Characters of one text in an expression."""
MAX_NUMBER: Final = 10**18

_MAY_BE_WARNED_OF: Final = re.compile(r"\\|\d\.?[A-Za-z_]")
"""An escape, or a number that runs into a word."""
_FILTERS: Final = threading.Lock()

_REFUSED: Final[Mapping[type[ast.AST], str]] = {
    ast.Attribute: "reading an attribute",
    ast.Await: "'await'",
    ast.DictComp: "a dictionary built in a loop",
    ast.Lambda: "'lambda'",
    ast.NamedExpr: "an assignment",
    ast.Slice: "a slice in this place",
    ast.Starred: "unpacking with '*'",
    ast.Yield: "'yield'",
    ast.YieldFrom: "'yield'",
    ast.BitAnd: "'&'",
    ast.BitOr: "'|'",
    ast.BitXor: "'^'",
    ast.Invert: "'~'",
    ast.LShift: "'<<'",
    ast.MatMult: "'@'",
    ast.Pow: "'**'",
    ast.RShift: "'>>'",
}


def read(source: str) -> ast.expr:
    """Return the tree of one expression.

    Raises `ExpressionRefused` when the text is empty, too long, nested too deeply or malformed.
    """
    text = source.strip()
    if not text:
        raise ExpressionRefused("there is no expression", 1)
    if len(text) > MAX_CHARACTERS:
        raise ExpressionRefused(
            f"the expression is longer than {MAX_CHARACTERS} characters", MAX_CHARACTERS + 1
        )
    _refuse_brackets(text)
    tree = _parsed(text)
    _refuse_depth(tree)
    if not text.isascii():
        _count_characters(tree, text)
    return tree


def refused(
    what: str, node: ast.AST, *, called: str | None = None, offered: Iterable[str] = ()
) -> ExpressionRefused:
    """Return the refusal of a part of an expression."""
    column = getattr(node, "col_offset", 0) + 1
    return ExpressionRefused(
        f"{what} is not allowed", column, called=called, offered=frozenset(offered)
    )


def refused_part(part: ast.AST, *, at: ast.AST | None = None) -> ExpressionRefused:
    """Return the refusal of a kind of part; `at`: where it stands, if it has no place itself."""
    return refused(_REFUSED.get(type(part), "this"), at or part)


def check_constant(node: ast.Constant) -> None:
    """Raise `ExpressionRefused` for a written value that is too large or no value of JSON."""
    match node.value:
        case None | bool():
            return
        case str() as text:
            if len(text) > MAX_TEXT:
                raise refused(f"a text of more than {MAX_TEXT} characters", node)
        case int() | float() as number:
            if not abs(number) <= MAX_NUMBER:
                raise refused("a number beyond 10 to the power of 18", node)
        case _:
            raise refused("a constant of this type", node)


def _refuse_brackets(text: str) -> None:
    depth = 0
    for column, character in enumerate(text, start=1):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if depth > MAX_BRACKETS:
            raise ExpressionRefused("brackets are nested too deeply", column)


def _parsed(text: str) -> ast.expr:
    try:
        with _warnings_refused() if _MAY_BE_WARNED_OF.search(text) else nullcontext():
            return ast.parse(text, mode="eval").body
    except SyntaxError as problem:
        column = problem.offset or 1
    except (ValueError, MemoryError, RecursionError):
        column = 1
    raise ExpressionRefused("this is not one well-formed expression", max(column, 1))


@contextmanager
def _warnings_refused() -> Iterator[None]:
    """Refuse what Python only warns of, such as an unknown escape: it is a mistake in a rule."""
    # The filters are those of the whole process: two threads would leave each other's behind.
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def _refuse_depth(tree: ast.expr) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH):
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
        if not level:
            return
    raise ExpressionRefused("the expression is nested too deeply", 1)


def _count_characters(tree: ast.expr, text: str) -> None:
    """Turn the columns of a tree, which Python counts in bytes, into columns of characters."""
    lines = [line.encode() for line in text.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.keyword):
            before = lines[node.lineno - 1][: node.col_offset]
            node.col_offset = len(before.decode(errors="replace"))


def check_name(node: ast.Name) -> None:
    """Refuse a name of Python's own."""
    if node.id.startswith("__"):
        raise refused("a name that begins with '__'", node)
