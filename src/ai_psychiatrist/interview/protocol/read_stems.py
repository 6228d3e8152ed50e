"""Read the questions about the items, each in three wordings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS, Item
from ai_psychiatrist.interview.protocol.fields import required_text
from ai_psychiatrist.interview.protocol.leading import leading_words
from ai_psychiatrist.interview.protocol.placeholders import check_no_places
from ai_psychiatrist.interview.protocol.records import Stem
from ai_psychiatrist.validation.config.lint.node import Node

WORDINGS: Final = ("question", "clarifying", "second_ask")
_PERIOD: Final = re.compile(r"\b(?:two weeks|fortnight|(?:14|fourteen) (?:days|nights))\b")
_WORD: Final = re.compile(r"\w+")


def read_stems(root: Node) -> dict[Item, Stem]:
    """Read the questions of all eight items, in the order of the instrument."""
    node = root.child("items")
    if node is None:
        root.error(
            "missing_key", "'items' is missing: an interview about items has their questions"
        )
        return {}
    entries = node.entries(of="questions by item")
    node.refuse_unknown_keys(PHQ8_DOMAIN_KEYS)
    wordings = _Wordings()
    found: dict[Item, Stem] = {}
    for item in Item:
        if item.value not in entries and isinstance(node.value, dict):
            node.error("missing_stem", f"{item.value!r} has no questions")
            continue
        stem = wordings.stem(entries[item.value]) if item.value in entries else None
        if stem is not None:
            found[item] = stem
    return found


def check_sentence(node: Node) -> None:
    """Report words of a question, or of a sentence before one, that suggest an answer."""
    leading = leading_words(node.value) if isinstance(node.value, str) else ()
    if leading:
        node.error("leading_question", f"{', '.join(map(repr, leading))} suggests an answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wordings:
    """Reads wordings and remembers them: no two questions may be the same."""

    seen: dict[tuple[str, ...], str] = field(default_factory=dict)

    def stem(self, node: Node) -> Stem | None:
        if not isinstance(node.value, dict):
            node.entries(of="wordings")
            return None
        node.refuse_unknown_keys(WORDINGS)
        texts = {key: required_text(node, key) for key in WORDINGS}
        for key, text in texts.items():
            child = node.child(key)
            if text is not None and child is not None:
                self._check(child, text)
        return _complete(texts)

    def _check(self, node: Node, text: str) -> None:
        check_sentence(node)
        check_no_places(node, text, what="a question")
        if not text.endswith("?"):
            node.error("no_question", "a question ends in a question mark")
        if _PERIOD.search(text.casefold()) is None:
            node.error("no_period", "the question does not name the last two weeks")
        words = tuple(_WORD.findall(text.casefold()))
        if words in self.seen:
            node.error("repeated_question", f"the same words are asked at {self.seen[words]}")
        else:
            self.seen[words] = ".".join(map(str, node.path))


def _complete(texts: Mapping[str, str | None]) -> Stem | None:
    question, clarifying, second = (texts[key] for key in WORDINGS)
    if question is None or clarifying is None or second is None:
        return None
    return Stem(question=question, clarifying=clarifying, second_ask=second)
