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
from ai_psychiatrist.interview.protocol.placeholders import check_places
from ai_psychiatrist.interview.protocol.read_stems import check_sentence
from ai_psychiatrist.interview.protocol.records import (
    Anchor,
    AnswerPolicy,
    Confirmation,
    ProtocolKind,
)
from ai_psychiatrist.validation.config.lint.node import Node

_KEYS: Final = frozenset(
    {"anchors", "offered", "decline", "confirmation", "free_text", "max_length"}
)
_ANCHOR_KEYS: Final = frozenset({"text", "score"})
_CONFIRMATION_KEYS: Final = ("question", "agree", "disagree")
_PLACE: Final = "anchor"
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
        decline, confirmation = required_text(node, "decline"), _confirmation(node)
    else:
        refuse(node, "anchors", "only items are scored by their frequency")
        refuse(node, "confirmation", "only answers about items are taken for a frequency")
        anchors, offered = (), integer(node, "offered", low=_OFFERED, high=_OFFERED) or 0
        decline = None if node.child("decline") is None else required_text(node, "decline")
        confirmation = None
    _check_distinct(node, anchors, decline, confirmation)
    return AnswerPolicy(
        anchors=anchors,
        offered=offered,
        allows_free_text=is_free,
        decline=decline,
        confirmation=confirmation,
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


def _confirmation(answers: Node) -> Confirmation | None:
    if answers.child("confirmation") is None:
        return None
    node = mapping(answers, "confirmation", _CONFIRMATION_KEYS, of="wordings")
    if node is None:
        return None
    question, agree, disagree = (required_text(node, key) for key in _CONFIRMATION_KEYS)
    child = node.child("question")
    if question is not None and child is not None:
        check_places(child, [_PLACE])
        check_sentence(child)
        if f"{{{_PLACE}}}" not in question:
            child.error("no_place", f"the question has no place {{{_PLACE}}}")
        if not question.endswith("?"):
            child.error("no_question", "a question ends in a question mark")
    if question is None or agree is None or disagree is None:
        return None
    return Confirmation(question=question, agree=agree, disagree=disagree)


def _check_distinct(
    node: Node,
    anchors: tuple[Anchor, ...],
    decline: str | None,
    confirmation: Confirmation | None,
) -> None:
    """Report answers that a reader could not tell apart."""
    seen: set[str] = set()
    texts = [("anchors", anchor.text) for anchor in anchors]
    if decline is not None:
        texts.append(("decline", decline))
    if confirmation is not None:
        texts += [("confirmation", confirmation.agree), ("confirmation", confirmation.disagree)]
    for key, text in texts:
        folded = " ".join(text.casefold().split()).rstrip(".")
        if folded in seen:
            (node.child(key) or node).error("duplicate_option", f"{text!r} is offered twice")
        seen.add(folded)
