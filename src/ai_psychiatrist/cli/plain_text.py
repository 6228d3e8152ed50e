"""Text from elsewhere, made safe to show in a terminal."""

import unicodedata


def plain(text: str) -> str:
    """Replace characters that a terminal would obey, direction marks included."""
    return "".join(
        character
        if character in "\n\t" or not unicodedata.category(character).startswith("C")
        else "\ufffd"
        for character in text
    )
