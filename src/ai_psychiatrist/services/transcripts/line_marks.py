"""Tells by the marks of single lines that a text is not one person's prose."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ai_psychiatrist.services.transcripts.line_ends import LINE_END
from ai_psychiatrist.services.transcripts.persons import asks_somebody, prompts_somebody
from ai_psychiatrist.services.transcripts.times import STAMP

_LONGEST: Final = 600
"""Characters at a line's beginning that are looked at."""
_UNSEEN: Final = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b \t\u00a0"
_YOU: Final = (
    r"(?:\b(?:[Yy]ou(?:r|rs|rself)?|Sie|Ihnen|Ihre?[nmrs]?|[Dd](?:u|ir|ich|eine?[nmrs]?)|[Vv]ous"
    r"|[Vv]otre|[Vv]os|[Uu]sted|[Uu]stedes|[Tt]ú|[Vv]ocê|jij|jouw|uw)\b|[你您])"
)
_ITEM: Final = r"(?:[-*•·+][ \t]*|\(?(?:\d{1,3}|[A-Za-z])[.)][ \t]+)(?=[^\W\d])"
_BLOCK_TAG: Final = (
    r"<(?:b|i|u|p|a|h\d|hr|br|em|div|span|strong|font|table|t[dhr]|[dou]l|li|sp|turn|speaker"
    r"|utterance|line|q)\b[^<>]{0,200}>"
)
_QUOTED: Final = (
    r">|[-_]{2,}[ ]*(?:original|forwarded|ursprüngliche|weitergeleitete)\b"
    r"|(?:on|am|le|el|il|op|em)\b[^:]{0,200}(?::\d\d[^:]{0,120}){0,2}"
    r"\b(?:wrote|schrieb|écrit|escribió|scritto|schreef|escreveu)\b[^:]{0,80}:\Z"
)
_MARKED: Final = (
    r"(?:[^\w\s\"'“”„‘’«»‹›「『(\[…¿¡&$€£.,;:!?*#+•·=–—-]|[*_]{1,3}(?=[^\W_])(?!\*[a-z]+\*)"
    r"|[#@](?![#\s]))"
)
_COLUMNS: Final = (
    r".*?[^\W_][.,!?…؟。)\"”]?(?:[ ]{0,3}\t[ \t]{0,9}|[ ]{4,}|[ ](?:\|{1,2}|//)[ ])(?=[^\W_])"
)
_LONG_LABEL: Final = r"[^.!?,;:()\"“”\d]{45,160}:[ ]+\S"
_PARTED: Final = (
    r"[.!?][\"”»']? (?:(?:\w{1,20} )?(?:/|--?|[–—]) |[(\[]\w{1,20}[)\]] |[QA]\. |[\"“«](?=\w))"
)
"""The end of a sentence, and a mark before the next one."""
_FOOTER: Final = (
    r"(?:transcribed|(?:transcript|transcription|subtitles|captions)(?: was| were)?"
    r"(?: created| made| generated)?) (?:by|with)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sign:
    says: str
    pattern: re.Pattern[str]
    fewest: int = 2
    """How many lines have to show it in a text without labels."""
    is_foreign: bool = True
    """Whether one such line within somebody's turn is taken for another's words."""


def _sign(
    says: str, pattern: str, *, fewest: int = 2, is_foreign: bool = True, flags: int = re.IGNORECASE
) -> _Sign:
    compiled = re.compile(pattern, flags)
    return _Sign(says=says, pattern=compiled, fewest=fewest, is_foreign=is_foreign)


_SIGNS: Final = (
    _sign("it quotes a message", _QUOTED, fewest=1),
    _sign(
        "it is written in a markup language",
        r".*?(?:<\w{1,30}\s[^<>=]{1,40}=|\[\w{1,20}=|\\\w{2,20}\{|\A\w{2,20}\([^()]{3,300}\)[.;]\Z)",
        fewest=1,
    ),
    _sign("it is written in a markup language", rf"{_BLOCK_TAG}|.*?\[/\w"),
    _sign("it is written in a markup language", r".*?</\w", is_foreign=False),
    _sign("a program wrote it", _FOOTER, fewest=1),
    _sign("it numbers speakers", r".*?\bspeaker[ _-]?\d"),
    _sign("its lines are parted into columns", _COLUMNS),
    _sign("it is parted by marks", r".*? (?://|\|) .*? (?://|\|) .", fewest=1),
    _sign("it is parted by marks", rf"(?:.*?{_PARTED}){{2}}", fewest=1, is_foreign=False),
    _sign("its lines are remarks in brackets", r"[(\[][^\W\d_].*[.!?][)\]]\Z", is_foreign=False),
    _sign("a program wrote it", r".*(?:#[\d:.,-]{4,16}#|\(UTC\)|['\"]\)[;.,]|\]\]\)?)\Z"),
    _sign("its lines open with marks", _MARKED, flags=0),
    _sign(
        "its lines open with letters apart",
        r"(?:[\[{<]\w{1,2}[\]}>]|\([A-Z]\)|[A-Z]>|Q\d{0,3}[ .:)]|[A-Z]\d?[ ]{2,})\s?\S",
        flags=0,
    ),
    _sign(
        "it is of a recording",
        r"0?0:\d\d(?::\d\d)?(?:\s*[-–—])?(?:\s|\Z)",
        is_foreign=False,
    ),
    _sign("its lines open with dashes", r"[–—][^\S\r\n]*[^\s\d–—-]"),
    _sign("it asks in a list", rf"{_ITEM}(?:.*[?？؟]\W*\Z|.*{_YOU})", fewest=1, flags=0),
    _sign("it has long labels", _LONG_LABEL),
    _sign("its lines are in quotation marks", r"[\"“„«»「『‘]", is_foreign=False),
    _sign(
        "it is of a recording",
        rf"[^\w\s]?{STAMP}(?<=[\])}}>])[^\S\r\n]*\S|\S*\d:\d\d\S*\s*-->",
        is_foreign=False,
    ),
)
_CAPTION_DASH: Final = re.compile(r"-[ \t]*[^\s\d–—-]")
_PLAIN: Final = re.compile(r"(?:[^\W\d_][\w,.'’!?-]*+(?: {1,3}|\Z))*+")
_WORDS: Final = re.compile(r"speaker|transcri|subtitles|captions", re.IGNORECASE)
"""All that a line of plain words may be foreign by."""


def sign_of_several(lines: Sequence[str], *, is_of_captions: bool) -> str | None:
    """Return by what a text without labels shows that it is not one person's, to be read out."""
    seen = [line.strip(_UNSEEN)[:_LONGEST] for line in lines]
    if any(asks_somebody(line) or prompts_somebody(line.strip()) for line in lines):
        return "it asks somebody"
    if is_of_captions and sum(1 for line in seen if _CAPTION_DASH.match(line)) > 1:
        return "it marks that speakers change"
    for sign in _SIGNS:
        shown = (line for line in seen if sign.pattern.match(line))
        if len(list(islice(shown, sign.fewest))) == sign.fewest:
            return sign.says
    return None


def is_foreign(line: str, *, is_of_captions: bool = False) -> bool:
    """Return whether a line that goes on with a turn shows that it is not the same speaker's."""
    seen = line.strip(_UNSEEN)[:_LONGEST]
    if is_of_captions and _CAPTION_DASH.match(seen):
        return True
    if _PLAIN.fullmatch(seen) and not _WORDS.search(seen):
        return False
    return any(sign.is_foreign and sign.pattern.match(seen) for sign in _SIGNS)


def end_of_own(words: str, is_over: Callable[[str], bool]) -> int:
    """Return where lines without labels stop being those of whoever spoke the first of them."""
    line_ends = LINE_END.finditer(words)
    at = next(line_ends, None)
    while at is not None:
        following = next(line_ends, None)
        if is_over(words[at.end() : following.start() if following else len(words)]):
            return at.end()
        at = following
    return len(words)
