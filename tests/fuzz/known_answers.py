"""Draw an answer of eight items whose values are known, and what surrounds it in a reply."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from tests.fakes.replies import ITEMS

Task: TypeAlias = Literal["scoring", "evidence"]
Answer: TypeAlias = dict[str, object]

SAID = (
    "I wake up at four every night.",
    "I don't sleep, not really",
    "I've lost 5 kg; I eat once a day [laughs]",
    "it's been two weeks, maybe three",
    "nothing is fun any more",
    "I can't {you know} follow a film",
    "my wife says I'm slow: slower than before",
    "I feel like a failure, every day, all day",
    "tired // always tired",
    "no, that is fine",
    "the kids' room is a mess, and so am I",
    "about 3, 4 times a week",
)
REASONS = (
    "The participant says so.",
    "Not mentioned; N/A is right here.",
    "It's on most days, so 2 and not 3",
    "Nearly every day (see the quote)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Damaged:
    """An answer after something happened to its text."""

    text: str
    value: Answer
    """What it says, for whoever can read it."""
    is_whole: bool = True
    """Whether all of it can still be told from the text."""
    is_cut: bool = False
    """Whether the reply ends with it."""


def drawn_answer(draw: Random, task: Task) -> Answer:
    """Draw an answer that the task's contract allows."""
    if task == "evidence":
        return {item: draw.sample(SAID, draw.randint(0, 3)) for item in ITEMS}
    return {item: _scored(draw) for item in ITEMS}


def _scored(draw: Random) -> dict[str, object]:
    return {
        "evidence": draw.sample(SAID, draw.randint(0, 2)),
        "reason": draw.choice(REASONS),
        "score": draw.choice((0, 1, 2, 3, "N/A")),
        "confidence": draw.randint(1, 5),
    }


def written(draw: Random, value: object) -> str:
    """Write an answer as valid JSON, on one line or on many."""
    indent = draw.choice((None, None, 2, 4))
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _alone(_: Random, text: str, __: str) -> tuple[str, str]:
    return text, ""


def _in_words(_: Random, text: str, __: str) -> tuple[str, str]:
    return f"Sure, here is the assessment:\n\n{text}", "\n\nLet me know what else you need."


def _fenced(draw: Random, text: str, _: str) -> tuple[str, str]:
    label = draw.choice(("json", "", "JSON"))
    return f"Result:\n```{label}\n{text}", "\n```\nThat is all {for now}."


def _tagged(_: Random, text: str, __: str) -> tuple[str, str]:
    return f"I use the tags as told.\n<answer>\n{text}", "\n</answer>"


def _tagged_fence(_: Random, text: str, __: str) -> tuple[str, str]:
    return f"<answer>\n```json\n{text}", "\n```\n</answer>\nDone."


def _after_thinking(_: Random, text: str, draft: str) -> tuple[str, str]:
    return f"<think>Perhaps\n{draft}\nNo, </think>\n{text}", ""


def _after_a_draft(_: Random, text: str, draft: str) -> tuple[str, str]:
    return f"{draft}\n\nOn reflection that is wrong. The final answer:\n\n{text}", ""


def _after_a_fenced_draft(_: Random, text: str, draft: str) -> tuple[str, str]:
    return f"Draft:\n```json\n{draft}\n```\nFinal:\n```json\n{text}", "\n```"


def _after_a_tagged_draft(_: Random, text: str, draft: str) -> tuple[str, str]:
    return f"<answer>{draft}</answer>\nWait, once more:\n<answer>{text}", "</answer>"


def _before_a_remark(_: Random, text: str, __: str) -> tuple[str, str]:
    return text, '\n\n(It was {"PHQ8_Sleep": {"score": 3}} before I read on.)'


def _before_thinking(_: Random, text: str, draft: str) -> tuple[str, str]:
    return text, f"\n<think>Should it have been\n{draft}\n? No.</think>"


Frame: TypeAlias = Callable[[Random, str, str], tuple[str, str]]

FRAMES: dict[str, Frame] = {
    "alone": _alone,
    "in words": _in_words,
    "fenced": _fenced,
    "in tags": _tagged,
    "in tags and a fence": _tagged_fence,
    "after thinking": _after_thinking,
    "after a draft": _after_a_draft,
    "after a fenced draft": _after_a_fenced_draft,
    "after a tagged draft": _after_a_tagged_draft,
    "before a remark": _before_a_remark,
    "before thinking": _before_thinking,
}


def framed(draw: Random, frame: str, answer: Damaged, draft: Answer) -> str:
    """Put an answer into a reply; one that is cut off ends it."""
    head, tail = FRAMES[frame](draw, answer.text, written(draw, draft))
    return head if answer.is_cut else head + tail
