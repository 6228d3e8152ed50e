"""Find what a reply offers as its answer: in answer tags, in a fence, or on lines of its own.

An object inside a sentence is a remark. Of what is offered the last counts, whether it can be read
or not; where it is not clear which one is meant, none does.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.json_decoder import (
    NotJson,
    Parsed,
    decode,
    json_span,
)
from ai_psychiatrist.validation.reply.limits import Effort, ParseLimits, rejected
from ai_psychiatrist.validation.reply.repair import repaired_value
from ai_psychiatrist.validation.reply.strings import QUOTED_KEY, SPACE


class Placement(Enum):
    """How clearly a place in a reply is offered as the answer."""

    TAGGED = auto()
    FENCED = auto()
    ALONE = auto()
    """On lines of its own."""
    IN_A_LINE = auto()
    """After or before words on its line: the answer only if nothing else is."""
    REMARK = auto()
    """Inside a sentence, or part of something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A place where a reply may give its answer."""

    placement: Placement
    start: int
    end: int
    read: Callable[[], Parsed[object]] = field(repr=False)
    """Returns what it says; raises `OutputRejected` where it cannot be read."""


def offered(reply: str, limits: ParseLimits) -> Parsed[object]:
    """Return what a reply without thinking gives as its answer.

    Raises `OutputRejected` when it gives none, several, or one that cannot be read.
    """
    whole = _Reply(text=reply, limits=limits, effort=Effort(len(reply)))
    return _Region(whole, 0, len(reply), _TAGS_AND_FENCES).answer()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """A reply, what it may hold, and what its reading may still cost."""

    text: str = field(repr=False)
    limits: ParseLimits
    effort: Effort


_FENCE: Final = r"^[ \t]*+(?:`{3,}+|~{3,}+)[^\n{\[]*+$"


_TAGS_AND_FENCES: Final = re.compile(rf"(?i:</?answer\s?>)|{_FENCE}", re.MULTILINE)
_FENCES: Final = re.compile(_FENCE, re.MULTILINE)
_NO_MARKS: Final = re.compile(r"(?!)")


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
_NAMED: Final = re.compile(r"(?<!\w)(\w++)(?:&quot;|[^\w\n]){0,4}?(?:=|:|：)")
_WORDS: Final = re.compile(r"\w")


class _Region:
    """A part of a reply, and what it offers."""

    def __init__(self, reply: _Reply, start: int, end: int, marks: re.Pattern[str]) -> None:
        self._reply, self._text = reply, reply.text
        self._start, self._end = start, end
        self._marks = marks
        """What may hold an answer inside the region."""
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
        if any(offer.placement is Placement.TAGGED for offer in self._offers):
            earlier = [offer for offer in earlier if offer.placement is Placement.TAGGED]
            is_clear = last.placement is Placement.TAGGED
        else:
            is_clear = last.placement is not Placement.IN_A_LINE or not earlier
        if not is_clear:
            raise rejected(RejectionCode.SEVERAL_ANSWERS)
        read = last.read()
        if _LATER_MEMBER.search(self._text, last.end, self._end):
            raise rejected(RejectionCode.UNREPAIRABLE)
        if _TAKEN_BACK.search(self._text, last.end, self._end):
            raise rejected(RejectionCode.SEVERAL_ANSWERS)
        if self._is_given_again(read.value, last.end) or self._is_a_part(read.value, earlier):
            raise rejected(RejectionCode.SEVERAL_ANSWERS)
        return read

    def _is_given_again(self, value: object, end: int) -> bool:
        """Return whether all keys of an answer follow it once more, in a form that is not read."""
        rest = [self._text[max(end, start) : stop] for start, stop in self._between_remarks()]
        if not isinstance(value, dict) or not value or not any(map(_BRACKET.search, rest)):
            return False
        named = {
            name
            for piece in rest
            for found in _NAMED.finditer(piece)
            if (name := found[1]) in value
        }
        return len(named) == len(value)

    def _between_remarks(self) -> Iterator[tuple[int, int]]:
        start = self._start
        for remark_start, remark_end in self._remarks:
            yield start, remark_start
            start = remark_end
        yield start, self._end

    def _is_a_part(self, last: object, earlier: list[Offer]) -> bool:
        """Return whether an earlier offer has keys that the last one lacks: both may be parts."""
        earlier = [offer for offer in earlier if offer.placement is not Placement.IN_A_LINE]
        if not isinstance(last, dict) or not earlier:
            return False
        inner = _keys_in(last)
        for offer in earlier:
            try:
                value = offer.read().value
            except OutputRejected:
                written = _WRITTEN_KEY.finditer(self._text, offer.start, offer.end)
                if any(found[1] not in inner for found in written):
                    return True
            else:
                if isinstance(value, dict) and not value.keys() <= last.keys():
                    return True
        return False

    def _scan(self) -> None:
        while True:
            self._reply.effort.spend(Effort.PLACE)
            mark, bracket = self._next(self._marks), self._next(_START)
            if mark is not None and (bracket is None or mark.start() < bracket.start()):
                if "<" not in mark[0]:
                    self._read_fence(mark)
                elif "/" in mark[0]:
                    self._at = mark.end()
                else:
                    self._read_tag(mark)
            elif bracket is not None:
                self._read_bare(bracket.start())
            else:
                return

    def _next(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the next match from here on, each of which is looked for once."""
        if pattern in self._found:
            known = self._found[pattern]
            if known is None or known.start() >= self._at:
                return known
        self._found[pattern] = pattern.search(self._text, self._at, self._end)
        return self._found[pattern]

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
        self._offer_block(Placement.TAGGED, start, end, _FENCES, is_closed=mark is not None)

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
            self._offer_block(Placement.FENCED, start, end, _NO_MARKS, is_closed=is_closed)

    def _mark_after(self, start: int) -> re.Match[str] | None:
        """Return the next tag or fence that is not inside the JSON that begins here."""
        self._reply.effort.spend(Effort.TOKEN)
        begin = _BLANK_OR_FENCE.match(self._text, start, self._end)
        first = start if begin is None else begin.end()
        at = start
        if self._text.startswith("{", first):
            span = json_span(self._text, first, self._reply.effort)
            at = span.end if span.is_whole else start
        return self._marks.search(self._text, at, self._end)

    def _offer_block(
        self, placement: Placement, start: int, end: int, marks: re.Pattern[str], *, is_closed: bool
    ) -> None:
        read = partial(_block_answer, self._reply, start, end, marks, is_closed=is_closed)
        self._offers.append(Offer(placement=placement, read=read, start=start, end=self._at))

    def _read_bare(self, start: int) -> None:
        span = json_span(self._text, start, self._reply.effort)
        is_whole = span.is_whole and span.end <= self._end
        placement = placement_of(self._text, start, region_start=self._start)
        is_braced_twice = False
        if placement is Placement.REMARK and is_whole:
            placement = self._placement_in_stray_brace(start, span.end)
            is_braced_twice = placement is not Placement.REMARK
        if placement is Placement.REMARK:
            self._pass_over(start, min(span.end, self._end), is_whole=is_whole)
            return
        self._at = start + 1
        mark = self._next(self._marks)
        limit = self._end if mark is None else max(mark.start(), span.end if is_whole else 0)
        try:
            if is_whole and not _CONTINUED.match(self._text, span.end, limit):
                value, self._at = decode(self._text[start : span.end], self._reply.limits), span.end
                read = partial(Parsed, value=value, repaired=is_braced_twice)
            else:
                repaired = repaired_value(
                    self._text,
                    self._reply.limits,
                    start=start,
                    end=limit,
                    effort=self._reply.effort,
                )
                read, self._at = partial(Parsed, value=repaired.value, repaired=True), repaired.end
        except OutputRejected as rejection:
            read = partial(_refuse, rejection.detached())
            self._at = self._anew(start, limit)
        if placement is Placement.ALONE and _GOES_ON_IN_WORDS.match(
            self._text, self._at, self._end
        ):
            placement = Placement.IN_A_LINE
        self._offers.append(Offer(placement=placement, read=read, start=start, end=self._at))

    def _placement_in_stray_brace(self, start: int, end: int) -> Placement:
        """Return how a brace too many before an object stands, if no other object follows."""
        stray = _STRAY_BRACE.search(self._text, max(self._start, start - _MOST_BEFORE), start)
        if stray is None or _NOTHING_ELSE.match(self._text, end, self._end) is None:
            return Placement.REMARK
        return placement_of(self._text, stray.start(), region_start=self._start)

    def _pass_over(self, start: int, end: int, *, is_whole: bool) -> None:
        """Leave out a remark."""
        self._at = end
        if is_whole:
            self._remarks.append((start, end))
        elif end == self._end and self._is_open(start):
            # The reply was cut off in it: nobody knows what was still to come.
            read = partial(_refuse, rejected(RejectionCode.TRUNCATED))
            offer = Offer(placement=Placement.REMARK, read=read, start=start, end=end)
            self._offers.append(offer)

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


def _block_answer(
    reply: _Reply, start: int, end: int, marks: re.Pattern[str], *, is_closed: bool
) -> Parsed[object]:
    """Return what a block gives, which may be a value that is no object."""
    inside = reply.text[start:end].strip()
    if not inside and not is_closed:
        raise rejected(RejectionCode.TRUNCATED)
    try:
        return _Region(reply, start, end, marks).answer()
    except OutputRejected as rejection:
        if rejection.code is not RejectionCode.NO_JSON:
            raise
    try:
        return Parsed(value=decode(inside, reply.limits), repaired=False)
    except NotJson:
        raise rejected(RejectionCode.NO_JSON) from None


_MOST_BEFORE: Final = 200
_NO_WORDS: Final = " \t>*_`~#-\u200b\ufeff"
_ASSIGNS: Final = re.compile(r"^(?:const |let |var )?\w+\s*=$")
_IS_KEY: Final = re.compile(r"[\"'”’]\s*[:,]$|[\[{]$")
_ENDS_IN_TAG: Final = re.compile(r"<[\w|/]{1,40}>\s*$")
_BEGINS_AN_ANSWER: Final = ("{", "[", "`", "~", '"')
_BLANK_OR_FENCE: Final = re.compile(r"\s*+(?:(?:`{3,}+|~{3,}+)[^\n{\[]*+\n\s*+)?")
_CONTINUED: Final = re.compile(rf"[{SPACE}]*+(?:[,\]}}:]|{QUOTED_KEY})")
_GOES_ON_IN_WORDS: Final = re.compile(r"[ \t.,;)]*+[a-z]")
_AFTER_PROSE: Final = re.compile(r"^[ \t*_#>]*+[A-Za-z][^\n\"{}\[\]]*+\n\s*+(?=\{)", re.MULTILINE)
_STRAY_BRACE: Final = re.compile(rf"(?<!\{{)\{{[{SPACE}]*\Z")
_NOTHING_ELSE: Final = re.compile(rf"(?:[{SPACE}]*+\}})?[ \t\r]*+(?:\n[^{{}}\[\]\"]*+)?\Z")


def placement_of(text: str, start: int, *, region_start: int) -> Placement:
    """Tell by the words before it how clearly a bracket offers an answer."""
    before = text[max(region_start, start - _MOST_BEFORE) : start]
    head, _, line = before.rpartition("\n")
    if len(before) == _MOST_BEFORE and "\n" not in before:
        return Placement.REMARK
    is_in_tag = _ENDS_IN_TAG.search(line) is not None
    line = line.strip(_NO_WORDS)
    is_doubled = line == "{" and before.endswith("{")
    if not is_doubled and _IS_KEY.search(line or head.rstrip(_NO_WORDS + "\n\r")):
        return Placement.REMARK
    if not line or is_doubled or is_in_tag or _ASSIGNS.search(line) or line.lower() == "json":
        return Placement.ALONE
    opens_lines = text[start + 1 : start + 3].lstrip(" \r").startswith("\n")
    if line.endswith((":", "=", ".", "!", "?", "：", "。")) or opens_lines:
        return Placement.IN_A_LINE
    return Placement.REMARK


def _refuse(rejection: OutputRejected) -> Parsed[object]:
    raise rejection.detached()


def _keys_in(value: object) -> set[str]:
    """Return the keys of a value and of all that it holds."""
    keys: set[str] = set()
    left = [value]
    while left:
        match left.pop():
            case dict() as held:
                keys.update(held)
                left.extend(held.values())
            case list() as held:
                left.extend(held)
    return keys
