"""Damage that the reader was not written for."""

import json
import re
from random import Random

from tests.fuzz.known_answers import Answer, Damaged, written
from tests.fuzz.reply_damage import (
    KEY,
    Damage,
    changed_at,
    changed_text,
    each_string,
    everywhere,
    is_element,
    is_number,
    replaced,
)


def _line_numbers(_: Random, value: Answer) -> Damaged:
    lines = json.dumps(value, ensure_ascii=False, indent=2).splitlines()
    numbered = (f"{number:>3}  {line}" for number, line in enumerate(lines, start=1))
    return Damaged(text="\n".join(numbered), value=value)


def _diff_marks(_: Random, value: Answer) -> Damaged:
    lines = json.dumps(value, ensure_ascii=False, indent=2).splitlines()
    return Damaged(text="\n".join(f"+ {line}" for line in lines), value=value)


def _in_pieces(draw: Random, value: Answer) -> Damaged:
    text = changed_at(draw, written(draw, value), is_element, "{}")
    return Damaged(text=re.sub(r'"(I \w+) ', r'"\1 " + "', text, count=1), value=value)


def _tool_call(draw: Random, value: Answer) -> Damaged:
    call = {"name": "submit", "arguments": value}
    return Damaged(text=f"<tool_call>\n{written(draw, call)}\n</tool_call>", value=value)


def _quote_marks_doubled(draw: Random, value: Answer) -> Damaged:
    return Damaged(text=written(draw, value).replace('"', '""'), value=value)


_TABLE = "\n\n| item | score |\n| --- | --- |\n| PHQ8_Sleep | {2} |\n| PHQ8_Tired | [1] |"

UNSEEN: dict[str, Damage] = {
    "line numbers": _line_numbers,
    "marks of a diff": _diff_marks,
    "entities of HTML": changed_text(lambda _, text: text.replace('"', "&quot;")),
    "marks doubled": _quote_marks_doubled,
    "round brackets for lists": changed_text(everywhere(r"\[", "(")),
    "table after it": changed_text(lambda _, text: text + _TABLE),
    "spaces inside keys": changed_text(lambda _, text: KEY.sub(r'"\1 "', text)),
    "texts in pieces": _in_pieces,
    "control tokens": changed_text(
        lambda draw, text: text + draw.choice(("<|im_end|>", "</s>", "<|eot_id|>"))
    ),
    "call of a tool": _tool_call,
    "said twice": changed_text(lambda _, text: f"{text}\n\n{text}"),
    "leading zeros": changed_text(replaced(is_number, "0{}")),
    "arrows for colons": changed_text(everywhere(r":", " =>")),
    "backticks": changed_text(each_string(lambda token: f"`{token[1:-1]}`")),
    "answer key around it": changed_text(lambda _, text: f'{{"answer": {text}}}'),
}
