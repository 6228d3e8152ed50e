"""Read the text of an expression into a tree, within limits that keep the reader itself safe."""

import ast
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Final, Literal

from ai_psychiatrist.validation.expressions.expression import ExpressionRefused

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


def parse_expression(source: str) -> ast.expr:
    """Return the tree of one expression.

    Raises `ExpressionRefused` when the text is empty, too long, nested too deeply or malformed.
    """
    text = source.strip()
    if not text:
        raise ExpressionRefused("there is no expression", 1)
    if len(text) > MAX_CHARACTERS:
        message = f"the expression is longer than {MAX_CHARACTERS} characters"
        raise ExpressionRefused(message, MAX_CHARACTERS + 1)
    _check_brackets(text)
    tree = _parsed(text)
    _check_depth(tree)
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
    """Return the refusal of a kind of part; `at`: the node that has its position."""
    return refused(_REFUSED.get(type(part), "this"), at or part)


@contextmanager
def python_warnings(action: Literal["error", "ignore"]) -> Iterator[None]:
    """Refuse what Python only warns of, such as an unknown escape, or pass over it."""
    # The filters are those of the whole process: two threads would leave each other's behind.
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter(action)
        yield


def _check_brackets(text: str) -> None:
    depth = 0
    for column, character in enumerate(text, start=1):
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_BRACKETS:
            raise ExpressionRefused("brackets are nested too deeply", column)


def _parsed(text: str) -> ast.expr:
    try:
        with python_warnings("error") if _MAY_BE_WARNED_OF.search(text) else nullcontext():
            return ast.parse(text, mode="eval").body
    except SyntaxError as problem:
        column = problem.offset or 1
    except (ValueError, MemoryError, RecursionError):
        column = 1
    raise ExpressionRefused("this is not one well-formed expression", max(column, 1))


def _check_depth(tree: ast.expr) -> None:
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
