"""Signs that a text without labels, or a line within a turn, is not one person's words."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_candidates import (
    FIRST_PERSON,
    NO_LABELS,
    LabelKind,
    is_name,
    kind_of,
)
from ai_psychiatrist.services.transcripts.lines import STAMP
from ai_psychiatrist.services.transcripts.persons import asks_somebody, prompts_somebody
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    decides,
    known_speaker,
    label_key,
)

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
_CAPTION_DASH: Final = re.compile(r"-[ \t]*[^\s\d–—-]")
_PLAIN: Final = re.compile(r"(?:[^\W\d_][\w,.'’!?-]*+(?: {1,3}|\Z))*+")
_WORDS: Final = re.compile(r"speaker|transcri|subtitles|captions", re.IGNORECASE)
"""All that a line of plain words may be foreign by."""
_MOST_LINES: Final = 20_000
_FEWEST_LINES: Final = 4
_LEAST_SHARE: Final = 0.45
"""Of the lines that have words."""
_LONGEST_OPENING: Final = 300
"""Characters at a line's beginning, and at its end, that are looked at."""
_FIRST: Final = re.compile(rf"\W{{0,3}}(?:{STAMP})?[\W\d_]{{0,40}}([^\W\d_][\w'’-]{{0,30}})")
_LAST: Final = re.compile(r"([^\W\d_][\w'’-]{0,30})[\W_]{0,6}\Z")
_SPEAKER_FIELD: Final = re.compile(
    r"\W{0,8}(?:speaker|who|role|sender|author|said_by)\b[\"' \t]{0,4}[=:]", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_MARKED_FIRST: Final = re.compile(r"(?:\(?\w{1,3}[.)\]/]|[#@]\w{1,30}|[^:]{1,160}:)(?=\s)")
_MARKED_LAST: Final = re.compile(r"(?:\s:[ ]?([^\s:]{1,30})|\s([^\s:]{1,30})[ ]?:)\Z")
_NAME_INSIDE: Final = re.compile(
    r"(?:\A|(?<=[.!?…\"”)/|] ))([^\W\d_][\w'’.]{0,30}(?: [^\W\d_][\w'’]{0,30}){0,2}):(?=\s)"
)
_ANY_INSIDE: Final = re.compile(r"(?<![\w-])([^\W\d_]\w{1,30})[:：](?=\s)")
_ENDS_SENTENCE: Final = re.compile(r"[.!?…。？！]\W{0,4}\Z")
_INITIALS: Final = re.compile(r"[^\W\d_]{1,3}\d{0,3}")
_NO_INITIALS: Final = frozenset({"I", "A", "OK", "O"})
_SENTENCES: Final = re.compile(r"[^.!?…]+[.!?…]*")
_HYPHEN: Final = re.compile(r"-\s?\S")
_LONGEST_QUESTION: Final = 8
"""In words; what one asks of oneself is longer, or names oneself or others."""
_SELF: Final = frozenset(
    {"i", "me", "my", "myself", "he", "she", "they", "we", "us", "who", "why", "what", "nobody"}
)
_LEAST_ANSWERS: Final = 3
_LEAST_CHANGES: Final = 3


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
    """Return whether a line within a turn shows that it is not the same speaker's."""
    seen = line.strip(_UNSEEN)[:_LONGEST]
    if is_of_captions and _CAPTION_DASH.match(seen):
        return True
    if _PLAIN.fullmatch(seen) and not _WORDS.search(seen):
        return False
    return any(sign.is_foreign and sign.pattern.match(seen) for sign in _SIGNS)


def opens_alike(lines: Sequence[str]) -> bool:
    """Return whether lines open, or end, with the same few names again and again."""
    with_words = [line for line in lines[:_MOST_LINES] if line.strip()]
    looked_at = [line.strip() for line in with_words]
    return _takes_turns(with_words) or any(shows(looked_at) for shows in _SHOWN)


def _names_fields(lines: Sequence[str]) -> bool:
    return sum(1 for line in lines if _SPEAKER_FIELD.match(line)) > 1


def _opens_with_known(lines: Sequence[str]) -> bool:
    first = {found[1] for line in lines if (found := _FIRST.match(line))}
    return _are_both({word for word in first if len(word) > 2})


def _has_labels_inside(lines: Sequence[str]) -> bool:
    """Tell labels behind the sentences of others: two known ones, or two like names."""
    names = 0
    first = {found[1] for line in lines for found in _ANY_INSIDE.finditer(line[:_LONGEST_OPENING])}
    for line in lines:
        if ":" not in line and "：" not in line:
            continue
        known = [word for word in _ANY_INSIDE.findall(line) if decides(word)]
        if len(known) > 1 or (known and _are_both({*known, *first})):
            return True
        found = [name for name in _NAME_INSIDE.findall(line) if is_name(name)]
        names += len(found) > 1
    return names > 0


def _are_both(words: set[str]) -> bool:
    roles = {known_speaker(word, DEFAULT_LABELS) for word in words}
    return {Speaker.PARTICIPANT, Speaker.INTERVIEWER} <= roles


def _recur_with_marks(lines: Sequence[str]) -> bool:
    first = [found[0] for line in lines if (found := _MARKED_FIRST.match(line[:_LONGEST_OPENING]))]
    last = [
        found[1] or found[2]
        for line in lines
        if (found := _MARKED_LAST.search(line[-_LONGEST_OPENING:]))
    ]
    return _alternate(first) or _alternate(last)


def _alternate(tokens: Sequence[str]) -> bool:
    labels = (token.rstrip(":") for token in tokens)
    times = Counter(label for label in labels if kind_of(label, is_bare=True) is not LabelKind.NONE)
    return len(times) > 1 and max(times.values()) > 1


def opens_with_names(lines: Sequence[str]) -> bool:
    """Tell names by the words that recur; one that stands in lower case elsewhere is none."""
    if len(lines) < _FEWEST_LINES:
        return False
    ordinary = {word for line in lines for word in _WORD.findall(line) if word.islower()}
    first = [found[1] for line in lines if (found := _FIRST.match(line))]
    last = [found[1] for line in lines if (found := _LAST.search(line[-40:]))]
    return any(_are_names(words, ordinary, len(lines)) for words in (first, last))


def _are_names(words: Sequence[str], ordinary: set[str], lines: int) -> bool:
    times = Counter(word for word in words if word[0].isupper() and _can_be_name(word, ordinary))
    recurring = {word: count for word, count in times.items() if count > 1}
    return len(recurring) > 1 and sum(recurring.values()) >= _LEAST_SHARE * lines


def _can_be_name(word: str, ordinary: set[str]) -> bool:
    key = label_key(word)
    if key in NO_LABELS or key in FIRST_PERSON:
        return False
    if word.isupper() and _INITIALS.fullmatch(word):
        return word not in _NO_INITIALS and bool(ordinary)
    return word.lower() not in ordinary and len(word) > 2


def count_of_answered(text: str) -> int:
    """Count the short questions of a text without labels that something answers.

    "Appetite? Gone." and "- And sleep? - Bad.", but not what somebody asks of himself: "Why do I
    bother? I lie awake." Lines that all open with a hyphen count as questions and answers as well.
    """
    lines = [line.strip(_UNSEEN) for line in islice(text.splitlines(), _MOST_LINES)]
    lines = [line for line in lines if line]
    sentences = [one for line in lines for one in _SENTENCES.findall(line) if _WORD.search(one)]
    asked = sum(
        1
        for one, other in pairwise(sentences)
        if _is_short_question(one) and not other.rstrip().endswith("?")
    )
    if len(lines) >= _FEWEST_LINES and all(map(_HYPHEN.match, lines)):
        return max(asked, len(lines) // 2)
    return asked


def _is_short_question(sentence: str) -> bool:
    words = _WORD.findall(sentence)
    is_own = not _SELF.isdisjoint(word.lower() for word in words)
    return sentence.rstrip().endswith("?") and len(words) <= _LONGEST_QUESTION and not is_own


def _takes_turns(lines: Sequence[str]) -> bool:
    """Tell sentences of two kinds by turns: asked or not, indented or not, in capitals or not."""
    asked = [line.rstrip().endswith(("?", "？", "؟")) for line in lines]
    if sum(1 for one, other in pairwise(asked) if one and not other) >= _LEAST_ANSWERS:
        return True
    if not all(map(_ENDS_SENTENCE.search, lines)):
        return False
    indented = [line.startswith(("    ", "\t")) for line in lines]
    in_capitals = [line.isupper() for line in lines]
    return any(
        sum(1 for one, other in pairwise(kinds) if one is not other) >= _LEAST_CHANGES
        for kinds in (indented, in_capitals)
    )


_SHOWN: Final[tuple[Callable[[Sequence[str]], bool], ...]] = (
    _names_fields,
    _opens_with_known,
    _has_labels_inside,
    _recur_with_marks,
    opens_with_names,
)
