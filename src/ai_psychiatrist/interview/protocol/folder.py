"""Read a protocol's folder whole, with all that is wrong with it."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.protocol.fields import choice, flag, mapping, refuse, required_text
from ai_psychiatrist.interview.protocol.placeholders import check_no_places, check_places
from ai_psychiatrist.interview.protocol.read_answers import read_answers
from ai_psychiatrist.interview.protocol.read_goals import read_goals, read_stop
from ai_psychiatrist.interview.protocol.read_inputs import read_inputs, read_rules
from ai_psychiatrist.interview.protocol.read_prompts import needed_prompts, read_prompts
from ai_psychiatrist.interview.protocol.read_stems import check_sentence, read_stems
from ai_psychiatrist.interview.protocol.records import (
    DriftPolicy,
    Input,
    InterviewProtocol,
    ProtocolKind,
    ReportKind,
    Sentences,
    Stem,
)
from ai_psychiatrist.validation.config.document import Document, TooManyProblems, read_document
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.problem import LintProblem

PROTOCOL_FILE: Final = "protocol.yaml"

_KEYS: Final = frozenset(
    "id version kind title tone inputs rules texts goals items answers facts drift stop safety "
    "prompts report".split()
)
_ID: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
_SENTENCES: Final = ("introduction", "closing", "redirect")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolReading:
    """What a protocol's folder says."""

    problems: list[LintProblem]
    """By line."""
    protocol: InterviewProtocol | None
    """`None` when a problem is an error."""


def read_protocol(folder: Path) -> ProtocolReading:
    """Read a protocol and the files that it names, and check them against each other."""
    document = read_document(folder / PROTOCOL_FILE, what=PROTOCOL_FILE)
    try:
        protocol = _read(document, folder) if document.is_readable else None
    except TooManyProblems:
        protocol = None
    return ProtocolReading(
        problems=document.problems, protocol=None if document.has_errors else protocol
    )


def _read(document: Document, folder: Path) -> InterviewProtocol | None:
    root = Node(value=document.value, path=(), document=document)
    if not isinstance(root.value, dict):
        root.error("wrong_shape", "the file has to be a mapping")
        return None
    root.refuse_unknown_keys(_KEYS)
    kind = choice(root, "kind", ProtocolKind)
    name, version = _read_id(root), required_text(root, "version")
    title, tone = required_text(root, "title"), required_text(root, "tone")
    inputs = read_inputs(root)
    sentences, hold = _read_sentences(root, inputs), _read_hold(root)
    rules = read_rules(root, inputs)
    if kind is None:
        return None
    drift = choice(root, "drift", DriftPolicy)
    report = _read_report(root, kind)
    goals, stems = read_goals(root, kind), _read_stems(root, kind)
    answers, stop = read_answers(root, kind), read_stop(root, kind, inputs)
    extracts_facts = kind is ProtocolKind.GOALS and flag(root, "facts", default=True)
    if kind is ProtocolKind.ITEMS:
        refuse(root, "facts", "answers about items are scored, not gathered")
    is_led = kind is ProtocolKind.GOALS
    looks_for_drift = drift is not DriftPolicy.NEVER
    needed = needed_prompts(goals, extracts_facts=extracts_facts, looks_for_drift=looks_for_drift)
    prompts = read_prompts(root, folder, needed if is_led else ())
    if name is None or version is None or title is None or tone is None or sentences is None:
        return None
    if hold is None or drift is None or report is None or answers is None or stop is None:
        return None
    return InterviewProtocol(
        id=name,
        version=version,
        digest=hashlib.sha256(
            hashlib.sha256(document.content).digest() + prompts.digest
        ).hexdigest(),
        kind=kind,
        title=title,
        tone=tone,
        inputs=inputs,
        goals=goals,
        answers=answers,
        stems=stems,
        stop=stop,
        sentences=sentences,
        safety_hold=hold,
        prompts=prompts.texts,
        extracts_facts=extracts_facts,
        drift=drift,
        report=report,
        rules=rules,
    )


def _read_id(root: Node) -> str | None:
    name, node = required_text(root, "id"), root.child("id")
    if name is not None and node is not None and _ID.match(name) is None:
        node.error("protocol_id", "an id is lower-case letters, digits, `-` and `_`")
        return None
    return name


def _read_sentences(root: Node, inputs: tuple[Input, ...]) -> Sentences | None:
    node = mapping(root, "texts", _SENTENCES, of="sentences")
    if node is None:
        return None
    introduction, closing, redirect = (required_text(node, key) for key in _SENTENCES)
    for key in _SENTENCES:
        child = node.child(key)
        if child is not None:
            check_places(child, [one.name for one in inputs])
            check_sentence(child)
    if introduction is None or closing is None or redirect is None:
        return None
    return Sentences(introduction=introduction, closing=closing, redirect=redirect)


def _read_hold(root: Node) -> str | None:
    node = mapping(root, "safety", {"hold"}, of="texts")
    hold = None if node is None else required_text(node, "hold")
    if node is not None and hold is not None:
        check_no_places(node.child("hold") or node, hold, what="the text of a safety hold")
    return hold


def _read_stems(root: Node, kind: ProtocolKind) -> dict[Item, Stem]:
    if kind is ProtocolKind.ITEMS:
        return read_stems(root)
    refuse(root, "items", "a model asks the questions")
    return {}


def _read_report(root: Node, kind: ProtocolKind) -> ReportKind | None:
    report, node = choice(root, "report", ReportKind), root.child("report")
    fitting = ReportKind.ITEMS if kind is ProtocolKind.ITEMS else ReportKind.ANALYSIS
    if report is not None and node is not None and report is not fitting:
        node.error("report_kind", f"a protocol of {kind.value} ends with the report {fitting!r}")
    return report
