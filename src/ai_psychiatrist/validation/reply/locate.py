"""Find the answer in a reply: a tagged block, a fenced block, or the last JSON object."""

import re
from collections.abc import Iterator
from typing import Final

_FENCE_LINE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


def tagged_block(reply: str, tag: str) -> str | None:
    """Return the text of the last `<tag>…</tag>` block, or `None` when there is none.

    The innermost block counts, so a tag that is merely mentioned before the answer is passed over.
    """
    folded = _lower_same_length(reply)
    opening, closing = f"<{tag.lower()}>", f"</{tag.lower()}>"
    end = folded.rfind(closing)
    if end < 0:
        return None
    start = folded.rfind(opening, 0, end)
    return None if start < 0 else reply[start + len(opening) : end].strip()


def has_unclosed_tag(reply: str, tag: str) -> bool:
    """Return whether the last `<tag>` is never closed, as in a reply that was cut off."""
    folded = _lower_same_length(reply)
    return folded.rfind(f"<{tag.lower()}>") > folded.rfind(f"</{tag.lower()}>")


def json_candidates(reply: str) -> Iterator[str]:
    """Yield the places where a JSON answer may stand, the most explicit one first.

    Last blocks come before earlier ones: models write a draft first and the answer last.
    """
    scope = _answer(reply)
    yield scope
    yield from reversed(list(_fenced_blocks(scope)))
    yield from reversed(list(_objects(scope)))


def object_around(reply: str, position: int) -> str | None:
    """Return the outermost `{…}` stretch that begins before a position and ends after it."""
    opening = _OPENING.search(reply)
    while opening is not None and opening.start() < position:
        end = _object_end(reply, opening.start())
        if end is None:
            return None
        if end > position:
            return reply[opening.start() : end]
        opening = _OPENING.search(reply, end)
    return None


def is_one_object(text: str) -> bool:
    """Return whether a text is one `{…}` stretch."""
    return text.startswith("{") and _object_end(text, 0) == len(text)


def is_cut_off(text: str) -> bool:
    """Return whether a text begins with an object that never ends."""
    return text.startswith("{") and _object_end(text, 0) is None


def _answer(reply: str) -> str:
    """Return the last answer block, which a reply that was cut off never closes."""
    answer = tagged_block(reply, "answer")
    if answer is None:
        return reply.strip()
    if has_unclosed_tag(reply, "answer"):
        return reply[_lower_same_length(reply).rfind("<answer>") + len("<answer>") :].strip()
    return answer


def _fenced_blocks(text: str) -> Iterator[str]:
    """Yield the closed blocks; a block that is opened anew before it is closed starts there."""
    start, mark = 0, ""
    for line in _FENCE_LINE.finditer(text):
        if line[1] == mark and not line[2].strip():
            yield text[start : line.start()].strip()
            mark = ""
        else:
            start, mark = line.end(), line[1]


def _objects(text: str) -> Iterator[str]:
    """Yield the outermost `{…}` stretches; one that never ends reaches to the end of the text.

    Braces of prose are passed over, and nothing inside an object that never ends is offered: a part
    of a reply that was cut off must not pass for the whole.
    """
    opening = _OPENING.search(text)
    while opening is not None:
        end = _object_end(text, opening.start())
        yield text[opening.start() : end]
        opening = None if end is None else _OPENING.search(text, end)


_OPENING: Final = re.compile(r"""\{(?=\s*(?:["'“]|[A-Za-z_]\w{0,63}\s{0,8}:|//|/\*))""")
_STRUCTURAL: Final = re.compile(r'[{}"]|\\.', re.DOTALL)


def _object_end(text: str, start: int) -> int | None:
    depth, in_string = 0, False
    for mark in _STRUCTURAL.finditer(text, start):
        symbol = mark[0]
        if symbol == '"':
            in_string = not in_string
        elif in_string or symbol.startswith("\\"):
            continue
        else:
            depth += 1 if symbol == "{" else -1
            if depth == 0:
                return mark.end()
    return None


def _lower_same_length(text: str) -> str:
    """Lower-case ASCII only, so that offsets stay those of the text."""
    return text.translate(_ASCII_LOWER)


_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
