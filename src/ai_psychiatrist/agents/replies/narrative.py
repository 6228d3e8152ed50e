"""The reply of the qualitative agent: a narrative in tagged sections, and quotes."""

import re
from typing import Final

from ai_psychiatrist.agents.output_models import QualitativeOutput, words_of
from ai_psychiatrist.agents.replies.parts import cut_off, refuse_too_many, required
from ai_psychiatrist.validation.reply.tags import has_unclosed_tag, tagged_block
from ai_psychiatrist.validation.reply.thinking import without_thinking

_SECTIONS: Final = {
    "assessment": "assessment",
    "PHQ8_symptoms": "phq8_symptoms",
    "social_factors": "social_factors",
    "biological_factors": "biological_factors",
    "risk_factors": "risk_factors",
}
_SECTION_TAG: Final = re.compile(rf"<(/?)({'|'.join(_SECTIONS)})>", re.IGNORECASE)
_BULLET: Final = re.compile(r"(?:[-*•–—]|\d{1,3}[.)])\s+")
_QUOTE_MARKS: Final = '"“”„«»'


def read_narrative(text: str) -> QualitativeOutput:
    """Read the tagged narrative; each tag has to be there and hold words."""
    reply = without_thinking(text)
    blocks = _last_blocks(reply)
    fields = {field: required(reply, tag, blocks.get(tag)) for tag, field in _SECTIONS.items()}
    quotes = tagged_block(reply, "exact_quotes")
    if has_unclosed_tag(reply, "exact_quotes"):
        raise cut_off("exact_quotes")
    return QualitativeOutput(exact_quotes=tuple(_bulleted(quotes or "")), **fields)


def _last_blocks(reply: str) -> dict[str, str]:
    """Return the sections of the last narrative: one that is written anew begins another."""
    names = {tag.lower(): tag for tag in _SECTIONS}
    blocks: dict[str, str] = {}
    opened: tuple[str, int] | None = None
    for mark in _SECTION_TAG.finditer(reply):
        name = names[mark[2].lower()]
        if not mark[1]:
            opened = (name, mark.end())
        elif opened is not None and opened[0] == name:
            blocks = {} if name in blocks else blocks
            blocks[name] = words_of(reply[opened[1] : mark.start()])
            opened = None
    return blocks


def _bulleted(block: str) -> list[str]:
    lines = (_BULLET.sub("", words_of(line), count=1).strip() for line in block.splitlines())
    quotes = (words_of(line.strip(_QUOTE_MARKS)) for line in lines)
    spoken = [quote for quote in quotes if quote and not _is_placeholder(quote)]
    refuse_too_many(spoken, "<exact_quotes>")
    return list(dict.fromkeys(spoken))


def _is_placeholder(quote: str) -> bool:
    return quote.casefold().rstrip(".") in {"not assessed in interview", "none", "n/a", "-"}
