"""Protocols as data: what an interview asks, takes for an answer, and stops at."""

from ai_psychiatrist.interview.protocol.accepted_inputs import accepted_inputs
from ai_psychiatrist.interview.protocol.checks import leading_words
from ai_psychiatrist.interview.protocol.loading import (
    BUILTIN_PROTOCOLS,
    is_protocol,
    lint_protocol,
    load_protocol,
    load_protocols,
)
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import AgentVerb, InterviewProtocol, ProtocolKind

__all__ = [
    "BUILTIN_PROTOCOLS",
    "AgentVerb",
    "InterviewProtocol",
    "ProtocolKind",
    "accepted_inputs",
    "filled",
    "is_protocol",
    "leading_words",
    "lint_protocol",
    "load_protocol",
    "load_protocols",
]
