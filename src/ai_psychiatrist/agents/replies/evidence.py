"""The reply of the evidence agent: quotes for each item."""

import re
from typing import Final

from ai_psychiatrist.agents.output_models import EvidenceOutput
from ai_psychiatrist.agents.replies.item_keys import NamedItems, by_item, unwrapped
from ai_psychiatrist.agents.replies.parts import refuse_too_many
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.services.evidence_validation import (
    EvidenceSchemaError,
    validate_evidence_schema,
)
from ai_psychiatrist.validation.reply.parse import parse_value
from ai_psychiatrist.validation.reply.thinking import without_thinking

logger = get_logger(__name__)

_ECHO: Final = re.compile(r"Reply with one JSON object and nothing else")


def read_evidence(text: str) -> EvidenceOutput:
    """Read the quotes per item; a value that is not a list of texts is refused, never coerced."""
    parsed = parse_value(text)
    value = unwrapped(parsed.value)
    named = by_item(value) if isinstance(value, dict) else NamedItems()
    try:
        quotes = validate_evidence_schema(named.values if isinstance(value, dict) else value)
    except EvidenceSchemaError as error:
        logger.error(
            "evidence_schema_validation_failed",
            violations=error.violations,
            response_hash=keyed_digest(text),
            response_len=len(text),
        )
        places = "; ".join(f"{key}: {what}" for key, what in error.violations.items())
        raise OutputRejected(
            RejectionCode.WRONG_TYPE,
            f"Each item key needs a list of strings. Wrong: {places}.",
            error.violations,
        ) from None
    if not any(quotes.values()) and _ECHO.search(without_thinking(text)):
        raise OutputRejected(
            RejectionCode.NO_JSON, "The reply repeats the task. Reply with the quotes themselves."
        )
    for key, listed in quotes.items():
        refuse_too_many(listed, key)
    if named.unknown_keys and not named.values:
        raise OutputRejected(
            RejectionCode.MISSING_ITEM,
            f"No key names an item. Use these keys: {', '.join(PHQ8_DOMAIN_KEYS)}.",
        )
    return EvidenceOutput(
        quotes=quotes,
        unknown_keys=named.unknown_keys,
        repaired=parsed.repaired,
        coercions=named.renamed + (value is not parsed.value),
    )
