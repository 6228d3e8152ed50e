"""Protocols of our own: one of items, written here, and one of goals, the example's."""

import shutil
from pathlib import Path
from typing import Final

from tests.golden.ways import EXAMPLES

ITEMS: Final = (
    *("PHQ8_NoInterest", "PHQ8_Depressed", "PHQ8_Sleep", "PHQ8_Tired"),
    *("PHQ8_Appetite", "PHQ8_Failure", "PHQ8_Concentrating", "PHQ8_Moving"),
)
_HEAD: Final = """\
id: own
version: "1"
kind: items
title: Eight questions
tone: Plain.

texts:
  introduction: Eight questions about the last two weeks.
  closing: Thank you, that is all.
  redirect: Back to the question, please.

answers:
  anchors:
    - {text: Not at all, score: 0}
    - {text: Several days, score: 1}
    - {text: More than half the days, score: 2}
    - {text: Nearly every day, score: 3}
  decline: I prefer not to say
  confirmation:
    question: Shall I put down "{anchor}"?
    agree: "Yes"
    disagree: "No"
  free_text: true
  max_length: 500

stop:
  max_asks: 2
  max_turns: 20

drift: free_text

safety:
  hold: Thank you for telling me. I stop here.

report: items

items:
"""
_ITEM: Final = """\
  {item}:
    name: {topic}
    question: {question}
    clarifying: Of the past 14 days, how many were hard as to {topic}?
    second_ask: Once more about the last two weeks, how many days were hard as to {topic}?
"""


def question(item: str) -> str:
    """Return the first question about an item."""
    return f"In the last two weeks, how many days were hard as to {_topic(item)}?"


def items_protocol() -> str:
    """Return a protocol about the eight items, without problems."""
    return _HEAD + "".join(
        _ITEM.format(item=item, question=question(item), topic=_topic(item)) for item in ITEMS
    )


def write_protocol(folder: Path, *changes: tuple[str, str], text: str | None = None) -> Path:
    """Write the protocol of items, or this text, into a folder, with some changes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "protocol.yaml").write_text(changed(text or items_protocol(), *changes), "utf-8")
    return folder


def write_goals(folder: Path, *changes: tuple[str, str]) -> Path:
    """Write the example's protocol of goals into a folder, with some changes."""
    shutil.copytree(EXAMPLES / "protocol", folder, dirs_exist_ok=True)
    file = folder / "protocol.yaml"
    file.write_text(changed(file.read_text("utf-8"), *changes), "utf-8")
    return folder


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with each change made once, where it has to be possible."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def _topic(item: str) -> str:
    return f"{item.removeprefix('PHQ8_').lower()} matters"
