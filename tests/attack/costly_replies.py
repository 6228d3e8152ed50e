"""Replies that are made to cost time and memory, as large as a reply may be."""

from collections.abc import Mapping
from random import Random
from typing import Final

MOST_BYTES: Final = 262_144
"""The default of MODEL_MAX_REPLY_BYTES."""

_GOOD: Final = '\n```json\n{"PHQ8_Sleep": ["I wake up"]}\n```'


def _filled(unit: str, size: int = MOST_BYTES) -> str:
    return unit * (size // len(unit.encode("utf-8", "surrogatepass")))


def _numbered(unit: str, size: int = MOST_BYTES) -> str:
    """Repeat a unit with a number in it, so that no two are equal."""
    return "".join(unit.format(number) for number in range(size // (len(unit) + 4)))


def _deep(unit: str, levels: int, tail: str) -> str:
    nested = unit * levels
    return nested + _filled(tail, MOST_BYTES - len(nested))


COSTLY_REPLIES: Final[Mapping[str, str]] = {
    "fences with braces": _filled("```\n{\n"),
    "fences of nothing": _filled("```json\n"),
    "fences of objects": _filled('```json\n{"a": 1}\n```\n'),
    "broken fences before an answer": _filled('```json\n{"a" 1}\n```\n', 19_000) + _GOOD,
    "fences before a large answer": _filled('```\n{"PHQ8_Sleep" 1}\n```\n', 30_000)
    + '\n```json\n{"PHQ8_Sleep": [], '
    + _numbered('"k{}":0,', 220_000)
    + '"a":0}\n```',
    "a fence that never ends its line": _filled("`") + "{",
    "a fence of fences that never end": "\n```json\n" + _filled("~") + "[",
    "spaces before a fence": _filled(" ") + "```{",
    "braces": _filled("{"),
    "braces and spaces": _filled("{ "),
    "stray braces": _filled("{\n{}\n"),
    "empty objects": _filled("{}"),
    "empty objects in a list": "[" + _filled("{},") + "{}] x",
    "empty lists in an object": '{"a": [' + _filled("[],") + '[]], "b": }',
    "objects on lines": _filled('{"a":1}\n'),
    "remarks": _filled('see {"a":1} x\n'),
    "objects in braces": _filled("}\n{"),
    "objects in objects": _filled('{"a":'),
    "lists in lists": _filled('["a",'),
    "keys": "{" + _numbered('"k{}":0,') + '"a":0}',
    "keys twice": "{" + _filled('"a":0,') + '"a":0}',
    "keys twice, broken": "{" + _filled('"a":0,') + ",}",
    "keys without marks": "{" + _filled("a:b,") + "}",
    "a huge number": '{"PHQ8_Sleep": ' + _filled("9") + "}",
    "huge numbers": '{"a":[' + _filled("9e99999,") + "1]}",
    "numbers": '{"a":[' + _filled("1,") + ",]}",
    "numbers in an odd bracket": '{"a":[' + _filled("1,") + "1}}",
    "numbers after prose": "So it is\n" + '{"a":[' + _filled("1,") + ",]}\nOr\n{",
    "commas": '{"a":1' + _filled(",") + "}",
    "commas and spaces": '{"a":1' + _filled(", ") + "}",
    "semicolons": '{"a":1' + _filled(";") + "}",
    "closing brackets": '{"a":1, ' + _filled("]") + "}",
    "quotation marks": '{"a": ["' + _filled('"') + "]}",
    "quotations": '{"a": ["x ' + _filled('"a" ') + '"]}',
    "a string that never ends": '{"a": "' + _filled("a "),
    "backslashes": '{"a": "' + _filled("\\"),
    "escapes": '{"a": "' + _filled("\\u0041") + '",}',
    "halves of characters": '{"a": "' + _filled("\\ud800") + '"}',
    "escaped objects": _filled('{\\"a\\":1}'),
    "objects as texts": _filled('"{\\"'),
    "an object as a text": '"{\\"a\\": [' + _filled("1,") + ',]}"',
    "line breaks after an element": '{"a": ["b"' + _filled("\n") + "c]}",
    "spaces after an element": '{"a": ["b"' + _filled("\u200b") + "c]}",
    "comments": '{"a": 1 ' + _filled("// a\n") + "}",
    "a comment that never ends": '{"a": 1, ' + _filled("/* "),
    "one word after an answer": '{"a":1}\n[' + _filled("a"),
    "names after an answer": '{"a":1}\n[' + _filled("a b "),
    "thinking": _filled("<think>"),
    "thinking that ends": _filled("</think>"),
    "thinking in pairs": _filled("<think></think>"),
    "objects beside thinking": _filled("{}") + "<think></think>",
    "an object around thinking": '{"a": ["' + _filled("<think>") + '", 1',
    "answers": _filled("<answer>"),
    "answers in pairs": _filled("<answer></answer>"),
    "answers of braces": _filled("<answer>{</answer>"),
    "fences in an answer": "<answer>" + _filled("```\n{\n"),
    "tags inside nested lists": _deep('\n["<answer></answer>",', 900, "1,"),
    "tags inside strings": _filled('<answer>{"a":"<answer>'),
    "channels": _filled("<|channel|>final<|message|>"),
    "channels without marks": _filled("assistantfinal{}"),
    "an answer in a channel without marks": "analysis" + _filled('assistantfinal {"a": "'),
    "ends": "{}" + _filled("</s>"),
    "ends and spaces": "{}" + _filled("</s> "),
    "texts with objects": '{"answer": 1, ' + _numbered('"k{}":"{{a",') + '"b": 0}',
    "objects of signs": _filled('{"quote":"x y","kind":"a"}\n'),
    "signs": '{"signs": [' + _filled('{"quote":"x"},') + '{"quote":"x"}]}',
    "lists of signs": '{"signs": [' + _filled("[[1]],") + "[1]]}",
    "facts": '{"facts": [' + _filled("1,", 9_000) + '1], "drift": 1, "goal_updates": 2}',
    "bullets": _filled("<exact_quotes>\n- a\n</exact_quotes>", 100) + _filled("- none\n"),
    "quotes": "<exact_quotes>" + _filled("- none\n") + "</exact_quotes>",
    "scores": _filled("Score: 3\n"),
    "blank lines": "é" + _filled("\n"),
    "sections": _filled("<assessment>a</assessment>"),
    "letters of two bytes": "<accuracy>" + _filled("İ") + "</accuracy>",
    "letters of four bytes": _filled("😀"),
    "control characters": _filled('{"\x00":"\x07"}'),
}

COSTLIEST: Final = (
    "fences with braces",
    "fences of nothing",
    "fences of objects",
    "lists of signs",
    "objects of signs",
    "escaped objects",
    "quotations",
)

MOTIFS: Final = (
    *("```\n", "```json\n", "~~~\n", "{", "}", "[", "]", '"', "'", "`", "\\", '\\"', "\\u", "\n"),
    *("<think>", "</think>", "<answer>", "</answer>", "<answer></answer>", "<assessment>", "</s>"),
    *(",", ":", ";", "=", " ", "\t", "\r\n", "- ", "* ", ". ", "?\n", "//", "/*", "*/", "#", "…"),
    *('{"a":', '{"a":1}', '{"a":1,', '{"a":"', '["a",', '["a"\n', "[{", "{}", "[]", "} {", '"]}\n'),
    *(
        '"a" ',
        '"a":',
        "'a':",
        "“",
        "„a“",
        "«",
        '"{\\"',
        '"},{"',
        "{a:",
        "{'a': 'b'}",
        'a"b ',
        "b's ",
    ),
    *("\u200b", "é", "😀", "\x00", "\ud800", "\\ud800", "\\u0041", "&quot;", "a=", "a:", "a", "1"),
    *(
        "<|channel|>",
        "<|im_end|>",
        "[INST]",
        "<|channel|>final<|message|>",
        "assistantfinal",
        "final ",
    ),
    *("Score: ", "score: 3\n", "Explanation:", "Correction\n", "<severity>", "</severity>", "NaN"),
    *(
        '{"quote":"x y","kind":"a"}\n',
        '{"quote":',
        '{"answer":"{',
        "x = ",
        "}\n{",
        '{"a": ["x" "y"]}',
    ),
)
_OPENINGS: Final = (
    '{"a":1}\n',
    '<answer>{"a":"x"}',
    "```json\n",
    '{"a":',
    '{"a": ["',
    '"',
    "final",
)
_CLOSINGS: Final = ("}", "</answer>", "\n```", '"]}', '</think>{"a":1}', "[x", "", _GOOD)


def grown(draw: Random, size: int = MOST_BYTES) -> tuple[str, str]:
    """Return a reply that is grown of a few motifs, and what it consists of."""
    motifs = [draw.choice(MOTIFS) for _ in range(draw.choice((1, 2, 2, 3, 3, 4)))]
    head, tail = draw.choice(("", *_OPENINGS, motifs[0])), draw.choice(_CLOSINGS)
    middle = _filled("".join(motifs), size - 200)
    if draw.random() < 0.3:
        middle = _filled(motifs[0], size // 2 - 100) + _filled(motifs[-1], size // 2 - 100)
    return head + middle + tail, f"{head!r}, {motifs}, {tail!r}"
