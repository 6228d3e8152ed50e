"""Protocols as data: what an interview asks, takes for an answer, and stops at."""

from ai_psychiatrist.interview.protocol.accepted_inputs import accepted_inputs
from ai_psychiatrist.interview.protocol.leading import leading_words
from ai_psychiatrist.interview.protocol.loading import (
    BUILTIN_PROTOCOLS,
    is_protocol,
    lint_protocol,
    load_protocol,
)
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import (
    AgentVerb,
    Anchor,
    AnswerPolicy,
    DriftPolicy,
    FixedGoals,
    GeneratedGoals,
    Input,
    IntegerInput,
    InterviewProtocol,
    ProtocolKind,
    ReportKind,
    Sentences,
    Stem,
    StopRule,
    TextInput,
)

__all__ = [
    "BUILTIN_PROTOCOLS",
    "AgentVerb",
    "Anchor",
    "AnswerPolicy",
    "DriftPolicy",
    "FixedGoals",
    "GeneratedGoals",
    "Input",
    "IntegerInput",
    "InterviewProtocol",
    "ProtocolKind",
    "ReportKind",
    "Sentences",
    "Stem",
    "StopRule",
    "TextInput",
    "accepted_inputs",
    "filled",
    "is_protocol",
    "leading_words",
    "lint_protocol",
    "load_protocol",
]
