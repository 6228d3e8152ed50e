"""Find what a reply offers as its answer: in answer tags, in a fence, or on lines of its own.

An object inside a sentence is a remark. Of what is offered the last counts, whether it can be read
or not; where it is not clear which one is meant, none does.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.json_decoder import NotJson, Parsed, decode, json_span
from ai_psychiatrist.validation.reply.limits import ParseLimits, rejected
from ai_psychiatrist.validation.reply.repair import repaired_value
from ai_psychiatrist.validation.reply.standing import Standing, standing_of
from ai_psychiatrist.validation.reply.strings import QUOTED_KEY, SPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A place where a reply may give its answer, read."""

    standing: Standing
    read: Parsed[object] | OutputRejected
    start: int
    end: int


def offered(reply: str, limits: ParseLimits) -> Parsed[object]:
    """Return what a reply without thinking gives as its answer.

    Raises `OutputRejected` when it gives none, several, or one that cannot be read.
    """
    return _Region(reply, 0, len(reply), _Marks.TAGS_AND_FENCES, limits).answer()


class _Marks(Enum):
    """What may hold an answer inside a region."""

    TAGS_AND_FENCES = re.compile(
        r"(?i:</?answer\s?>)|^[ \t]*(?:`{3,}|~{3,})[^\n{\[]*$", re.MULTILINE
    )
    FENCES = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n{\[]*$", re.MULTILINE)
    NONE = re.compile(r"(?!)")


_START: Final = re.compile(
    rf"\{{(?=[{SPACE}]{{0,200}}(?:[\"'`“”„‘«}}#/,\\]|[A-Za-z_]\w{{0,63}}\s{{0,8}}:|\Z))"
    rf"|\[(?=[{SPACE}]{{0,200}}(?:[\[{{\"'“„‘«]|\Z))"
    # An object that is written once more as a text.
    r"|\"(?=\{(?:\s|\\[nrt]){0,200}\\\")"
)
_LATER_MEMBER: Final = re.compile(rf"^[ \t,}}\]]*+{QUOTED_KEY}[ \t]*+[\[{{]", re.MULTILINE)
# Words after an answer that change it, and that nobody can apply.
_TAKEN_BACK: Final = re.compile(
    r"^[^\w\n]{0,16}(?:corrections?|corrected|erratum|scratch that)\b", re.IGNORECASE | re.MULTILINE
)
_WRITTEN_KEY: Final = re.compile(r'"([^"\n]{1,200})"\s*:')
_BRACKET: Final = re.compile(r"[\[{]")
_NAMED: Final = re.compile(r"(\w++)(?:&quot;|[^\w\n]){0,4}?(?:=|:|：)")
_WORDS: Final = re.compile(r"\w")


class _Region:
    """A part of a reply, and what it offers."""

    def __init__(self, text: str, start: int, end: int, marks: _Marks, limits: ParseLimits) -> None:
        self._text = text
        self._start = start
        self._end = end
        self._marks = marks
        self._limits = limits
        self._offers: list[Offer] = []
        self._at = start
        self._found: dict[re.Pattern[str], re.Match[str] | None] = {}
        self._has_begun_anew = False
        self._remarks: list[tuple[int, int]] = []

    def answer(self) -> Parsed[object]:
        """Return the last offer; raises `OutputRejected` when there is none that counts."""
        self._scan()
        if not self._offers:
            raise rejected(RejectionCode.NO_JSON)
        last, earlier = self._offers[-1], self._offers[:-1]
        if any(offer.standing is Standing.TAGGED for offer in self._offers):
            earlier = [offer for offer in earlier if offer.standing is Standing.TAGGED]
            is_clear = last.standing is Standing.TAGGED
        else:
            is_clear = last.standing is not Standing.IN_A_LINE or not earlier
        if not is_clear:
            raise rejected(RejectionCode.SEVERAL_ANSWERS)
        if isinstance(last.read, OutputRejected):
            raise last.read
        if _LATER_MEMBER.search(self._text, last.end, self._end):
            raise rejected(RejectionCode.UNREPAIRABLE)
        if _TAKEN_BACK.search(self._text, last.end, self._end):
            raise rejected(RejectionCode.SEVERAL_ANSWERS)
        if self._is_given_again(last.read.value, last.end):
            raise rejected(RejectionCode.SEVERAL_ANSWERS)
        if any(self._has_more(offer, last.read.value) for offer in earlier):
            raise rejected(RejectionCode.SEVERAL_ANSWERS)
        return last.read

    def _is_given_again(self, value: object, end: int) -> bool:
        """Return whether all keys of an answer follow it once more, in a form that is not read."""
        rest = [self._text[max(end, start) : stop] for start, stop in self._between_remarks()]
        if not isinstance(value, dict) or not value or not any(map(_BRACKET.search, rest)):
            return False
        named = {found[1] for piece in rest for found in _NAMED.finditer(piece)}
        return named.issuperset(value)

    def _between_remarks(self) -> Iterator[tuple[int, int]]:
        start = self._start
        for remark_start, remark_end in self._remarks:
            yield start, remark_start
            start = remark_end
        yield start, self._end

    def _has_more(self, earlier: Offer, last: object) -> bool:
        """Return whether an earlier offer has keys that the last one lacks: they may be parts."""
        if earlier.standing is Standing.IN_A_LINE or not isinstance(last, dict):
            return False
        if isinstance(earlier.read, OutputRejected):
            written = set(_WRITTEN_KEY.findall(self._text, earlier.start, earlier.end))
            return not written <= _keys_in(last)
        value = earlier.read.value
        return isinstance(value, dict) and not value.keys() <= last.keys()

    def _scan(self) -> None:
        for _ in range(_MOST_PLACES):
            mark, bracket = self._next(self._marks.value), self._next(_START)
            if mark is not None and (bracket is None or mark.start() < bracket.start()):
                self._read_block(mark)
            elif bracket is not None:
                self._read_bare(bracket.start())
            else:
                return
        raise rejected(RejectionCode.SEVERAL_ANSWERS)

    def _next(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the next match from here on, each of which is looked for once."""
        if pattern in self._found:
            known = self._found[pattern]
            if known is None or known.start() >= self._at:
                return known
        self._found[pattern] = pattern.search(self._text, self._at, self._end)
        return self._found[pattern]

    def _read_block(self, mark: re.Match[str]) -> None:
        if "<" not in mark[0]:
            self._read_fence(mark)
        elif "/" in mark[0]:
            self._at = mark.end()
        else:
            self._read_tag(mark)

    def _read_tag(self, opening: re.Match[str]) -> None:
        start = self._at = opening.end()
        mark = self._mark_after(start)
        while mark is not None and "<" not in mark[0]:
            mark = self._mark_after(mark.end())
        if mark is not None and "/" not in mark[0]:
            # Opened again: what was opened before was a mention.
            self._at = mark.start()
            return
        end = self._end if mark is None else mark.start()
        inside = self._text[start:end].strip()
        if mark is None and inside and not inside.startswith(_BEGINS_AN_ANSWER):
            return
        if mark is not None and not _WORDS.search(inside) and not inside.startswith("{"):
            self._at = mark.end()
            return
        self._at = self._end if mark is None else mark.end()
        self._offer_block(Standing.TAGGED, start, end, _Marks.FENCES, is_closed=mark is not None)

    def _read_fence(self, opening: re.Match[str]) -> None:
        start = opening.end()
        closing = self._mark_after(start)
        end = self._end if closing is None else closing.start()
        self._at = end
        if closing is not None and "<" not in closing[0]:
            is_bare = not closing[0].strip(" \t`~\r")
            self._at = closing.end() if is_bare else end
        inside = self._text[start:end].strip()
        is_json = "json" in opening[0].lower()
        if inside.startswith(("{", "[", '"')) or is_json or _START.search(inside):
            is_closed = closing is not None
            self._offer_block(Standing.FENCED, start, end, _Marks.NONE, is_closed=is_closed)

    def _mark_after(self, start: int) -> re.Match[str] | None:
        """Return the next tag or fence that is not inside the JSON that begins here."""
        begin = _BLANK_OR_FENCE.match(self._text, start, self._end)
        first = start if begin is None else begin.end()
        at = start
        if self._text.startswith("{", first):
            span = json_span(self._text, first)
            at = span.end if span.is_whole else start
        return self._marks.value.search(self._text, at, self._end)

    def _offer_block(
        self, standing: Standing, start: int, end: int, marks: _Marks, *, is_closed: bool
    ) -> None:
        read: Parsed[object] | OutputRejected
        try:
            read = _Region(self._text, start, end, marks, self._limits).block_answer()
        except OutputRejected as rejection:
            is_empty = not self._text[start:end].strip()
            read = rejected(RejectionCode.TRUNCATED) if is_empty and not is_closed else rejection
        self._offers.append(Offer(standing=standing, read=read, start=start, end=self._at))

    def block_answer(self) -> Parsed[object]:
        """Return what a block gives, which may be a value that is no object."""
        try:
            return self.answer()
        except OutputRejected as rejection:
            if rejection.code is not RejectionCode.NO_JSON:
                raise
            return plain_value(self._text[self._start : self._end], self._limits, rejection)

    def _read_bare(self, start: int) -> None:
        read: Parsed[object] | OutputRejected
        standing = standing_of(self._text, start, region_start=self._start)
        span = json_span(self._text, start)
        is_whole = span.is_whole and span.end <= self._end
        if standing is Standing.REMARK:
            self._at = min(span.end, self._end)
            if is_whole:
                self._remarks.append((start, self._at))
            elif self._at == self._end and self._is_open(start):
                # The reply was cut off in it: nobody knows what was still to come.
                read = rejected(RejectionCode.TRUNCATED)
                self._offers.append(Offer(standing=standing, read=read, start=start, end=self._end))
            return
        self._at = start + 1
        mark = self._next(self._marks.value)
        limit = self._end if mark is None else max(mark.start(), span.end if is_whole else 0)
        try:
            if is_whole and not _CONTINUED.match(self._text, span.end, limit):
                text = self._text[start : span.end]
                read = Parsed(value=decode(text, self._limits), repaired=False)
                self._at = span.end
            else:
                repaired = repaired_value(self._text, self._limits, start=start, end=limit)
                read = Parsed(value=repaired.value, repaired=True)
                self._at = repaired.end
        except OutputRejected as rejection:
            read = rejection
            self._at = self._anew(start, limit)
        if standing is Standing.ALONE and _GOES_ON_IN_WORDS.match(self._text, self._at, self._end):
            standing = Standing.IN_A_LINE
        self._offers.append(Offer(standing=standing, read=read, start=start, end=self._at))

    def _is_open(self, start: int) -> bool:
        opened, closed = (self._text.count(mark, start, self._end) for mark in "{}")
        return opened > closed

    def _anew(self, start: int, limit: int) -> int:
        """Return where an answer begins after one that cannot be read, once in a region.

        Inside the unreadable one nothing is offered: a part must not pass for the whole.
        """
        if self._has_begun_anew:
            return limit
        self._has_begun_anew = True
        begins = [prose.end() for prose in _AFTER_PROSE.finditer(self._text, start, limit)]
        return begins[-1] if begins else limit


_MOST_PLACES: Final = 2_000
"""Objects, lists, tags and fences; more are a flood, whatever comes last."""
_BEGINS_AN_ANSWER: Final = ("{", "[", "`", "~", '"')
_BLANK_OR_FENCE: Final = re.compile(r"\s*+(?:(?:`{3,}|~{3,})[^\n{\[]*+\n\s*+)?")
_CONTINUED: Final = re.compile(rf"[{SPACE}]*+(?:[,\]}}:]|{QUOTED_KEY})")
_GOES_ON_IN_WORDS: Final = re.compile(r"[ \t.,;)]*+[a-z]")
_AFTER_PROSE: Final = re.compile(r"^[ \t*_#>]*+[A-Za-z][^\n\"{}\[\]]*\n\s*(?=\{)", re.MULTILINE)


def _keys_in(value: object) -> set[str]:
    """Return the keys of a value and of all that it holds."""
    match value:
        case dict():
            return set(value).union(*map(_keys_in, value.values()))
        case list():
            return set[str]().union(*map(_keys_in, value))
        case _:
            return set()


def plain_value(text: str, limits: ParseLimits, otherwise: OutputRejected) -> Parsed[object]:
    """Return the JSON value that a whole text is; raises `otherwise` when it is none."""
    try:
        value = decode(text.strip(), limits)
    except NotJson:
        raise otherwise from None
    return Parsed(value=value, repaired=False)
