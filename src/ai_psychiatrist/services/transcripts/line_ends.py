"""Where lines of a text end, in all ways that Unicode has."""

import re
from typing import Final

BREAKS: Final = r"\r\n\v\f\x85\u2028\u2029"
"""Characters that end a line, for a class of a regular expression."""
GAP: Final = rf"[^\S{BREAKS}]"
"""A blank within a line."""
END: Final = rf"(?:\r\n|[{BREAKS}])"
LINE_END: Final = re.compile(END)
INVISIBLE: Final = (
    "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\u202a\u202b\u202c\u202d\u202e"
    "\u2066\u2067\u2068\u2069"
)
"""Characters that nobody sees; for a class of a regular expression as well."""
