"""Find the block of a tag: the last one, and the innermost."""

from typing import Final


def tagged_block(reply: str, tag: str) -> str | None:
    """Return the text of the last `<tag>…</tag>` block, or `None` when there is none.

    The innermost block counts, so a tag that is merely mentioned before the answer is passed over.
    """
    folded = _lower_same_length(reply)
    opening, closing = f"<{tag.lower()}>", f"</{tag.lower()}>"
    end = folded.rfind(closing)
    if end < 0:
        return None
    start = folded.rfind(opening, 0, end)
    return None if start < 0 else reply[start + len(opening) : end].strip()


def has_unclosed_tag(reply: str, tag: str) -> bool:
    """Return whether the last `<tag>` is never closed, as in a reply that was cut off."""
    folded = _lower_same_length(reply)
    return folded.rfind(f"<{tag.lower()}>") > folded.rfind(f"</{tag.lower()}>")


def _lower_same_length(text: str) -> str:
    """Lower-case ASCII only, so that offsets stay those of the text."""
    return text.translate(_ASCII_LOWER)


_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
