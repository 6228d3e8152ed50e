"""Unicode's compatibility form (NFKC) in time that is linear in the length of any text."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

_MOST_MARKS: Final = 30
"""How many marks may stand on one base. Source: Unicode Standard Annex #15, Stream-Safe Format."""
_BOUNDARY: Final = "\u034f"
"""The combining grapheme joiner, over which no marks are put in order."""
# A mark is no more than two in decomposed form and its base ends in no more than three; the two
# half-width sound marks are the only ones that count as letters.
_MARKS: Final = re.compile(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){12,}+")


class _Marks(NamedTuple):
    """The marks that a character is in decomposed form."""

    leading: int
    trailing: int
    is_nothing_else: bool


def nfkc(text: str) -> str:
    """Return a text in NFKC, with a boundary in each run of more than 30 marks.

    Putting marks in order takes time that is quadratic in their number. Equal to plain NFKC for
    any text without such a run; idempotent.
    """
    return unicodedata.normalize("NFKC", text if text.isascii() else _MARKS.sub(_bounded, text))


def _bounded(run: re.Match[str]) -> str:
    before, written = run.string[max(run.start() - 1, 0) : run.start()], run[0]
    count = _marks_of(before).trailing if before else 0
    cuts = [0]
    for at, character in enumerate(written):
        marks = _marks_of(character)
        if count + marks.leading > _MOST_MARKS:
            cuts.append(at)
            count = 0
        count = count + marks.leading if marks.is_nothing_else else marks.trailing
    return _BOUNDARY.join(written[start:end] for start, end in pairwise([*cuts, len(written)]))


@lru_cache(maxsize=1024)
def _marks_of(character: str) -> _Marks:
    is_mark = [unicodedata.combining(one) > 0 for one in unicodedata.normalize("NFKD", character)]
    if all(is_mark):
        return _Marks(leading=len(is_mark), trailing=len(is_mark), is_nothing_else=True)
    return _Marks(
        leading=is_mark.index(False), trailing=is_mark[::-1].index(False), is_nothing_else=False
    )
