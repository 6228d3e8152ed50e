"""Read how the questions of a protocol can be answered."""

from typing import Final

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE
from ai_psychiatrist.interview.protocol.fields import (
    flag,
    integer,
    mapping,
    refuse,
    required,
    required_text,
)
from ai_psychiatrist.interview.protocol.records import Anchor, AnswerPolicy, ProtocolKind
from ai_psychiatrist.validation.lint.node import Node

_KEYS: Final = frozenset({"anchors", "offered", "decline", "free_text", "max_length"})
_ANCHOR_KEYS: Final = frozenset({"text", "score"})
_OFFERED: Final = 4
_LONGEST_ANSWER: Final = 20_000


def read_answers(root: Node, kind: ProtocolKind) -> AnswerPolicy | None:
    """Read the answer policy; what a protocol of this kind cannot have is reported."""
    node = mapping(root, "answers", _KEYS, of="settings")
    if node is None:
        return None
    longest = integer(node, "max_length", low=1, high=_LONGEST_ANSWER)
    is_free = flag(node, "free_text", default=True)
    if kind is ProtocolKind.ITEMS:
        refuse(node, "offered", "the answers to a question about an item are the anchors")
        anchors, offered = _anchors(node), 0
        decline = required_text(node, "decline")
    else:
        refuse(node, "anchors", "only items are scored by their frequency")
        anchors, offered = (), integer(node, "offered", low=_OFFERED, high=_OFFERED) or 0
        decline = None if node.child("decline") is None else required_text(node, "decline")
    _check_distinct(node, anchors, decline)
    return AnswerPolicy(
        anchors=anchors,
        offered=offered,
        allows_free_text=is_free,
        decline=decline,
        max_length=longest or 0,
    )


def _anchors(node: Node) -> tuple[Anchor, ...]:
    listed = required(node, "anchors")
    if listed is None:
        return ()
    read = [_anchor(item) for item in listed.items(of="anchors")]
    found = sorted((one for one in read if one is not None), key=lambda anchor: anchor.score)
    scores = [anchor.score for anchor in found]
    if len(found) == len(read) and scores != list(range(MAX_ITEM_SCORE + 1)):
        listed.error("anchor_scores", "the anchors score 0, 1, 2 and 3, each of them once")
    return tuple(found)


def _anchor(node: Node) -> Anchor | None:
    if not isinstance(node.value, dict):
        node.error("wrong_shape", "an anchor is a mapping with `text` and `score`")
        return None
    node.refuse_unknown_keys(_ANCHOR_KEYS)
    text = required_text(node, "text")
    score = integer(node, "score", low=0, high=MAX_ITEM_SCORE)
    return None if text is None or score is None else Anchor(text=text, score=score)


def _check_distinct(node: Node, anchors: tuple[Anchor, ...], decline: str | None) -> None:
    """Report answers that a reader could not tell apart."""
    seen: set[str] = set()
    texts = [("anchors", anchor.text) for anchor in anchors]
    if decline is not None:
        texts.append(("decline", decline))
    for key, text in texts:
        folded = " ".join(text.casefold().split()).rstrip(".")
        if folded in seen:
            (node.child(key) or node).error("duplicate_option", f"{text!r} is offered twice")
        seen.add(folded)
