"""Where lines of a text end, in all ways that Unicode has."""

import re
from typing import Final

BREAKS: Final = r"\r\n\v\f\x85\u2028\u2029"
"""Characters that end a line, for a class of a regular expression."""
GAP: Final = rf"[^\S{BREAKS}]"
"""A blank within a line."""
END: Final = rf"(?:\r\n|[{BREAKS}])"
LINE_END: Final = re.compile(END)
INVISIBLE: Final = "\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069\u00ad"
"""Characters that nobody sees, for a class of a regular expression."""
