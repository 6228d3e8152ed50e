"""What a turn answers to a question about a danger.

Denied only by a plain denial, past only where it is long ago and said to be over; whatever else is
answered is read at once. Who is silent, evades or asks back has not answered, and has not denied.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Final

from ai_psychiatrist.domain.risk import RiskCategory, RiskKind, RiskLevel, RiskPolarity, RiskSignal
from ai_psychiatrist.services.language.clauses import Clause, clauses_of, is_asked
from ai_psychiatrist.services.language.spoken import every_word
from ai_psychiatrist.services.risk.questions import DangerQuestion, questions_in
from ai_psychiatrist.services.risk.statement import (
    Statement,
    level_of,
    match_replies,
    read_statement,
    reply_words,
)

OPENING_CHARACTERS: Final = 100
"""How much of a turn is its opening, which answers first."""
_READ_CLAUSES: Final = 12
"""How many clauses of a turn may tell a time, or name a means."""
_PIECES: Final = 8
"""How many pieces of a turn may answer the question."""
_TAKEN_BACK_WITHIN: Final = 2
"""How many pieces after a "no" may take something from it."""
_BARE: Final = frozenset({"no", "nope", "nah", "yes", "yeah"})
_SHORT: Final = 5
"""In words; an answer as short as this fills in what was asked for: "my stepdad", "the river"."""
_THOUGHTS: Final = frozenset({RiskKind.WISH_TO_BE_DEAD, RiskKind.NONSPECIFIC_THOUGHTS})
_ACTS: Final = frozenset(
    {
        RiskKind.METHOD,
        RiskKind.INTENT,
        RiskKind.PLAN,
        RiskKind.PREPARATION,
        RiskKind.ATTEMPT,
        RiskKind.INTERRUPTED_OR_ABORTED_ATTEMPT,
    }
)
"""Who tells something where one of these is asked for, tells of it."""
_REMARK: Final = re.compile(r"[(\[<*](?!\w* ?(?:nod|sh[ao]k|head))[a-zA-Z][\w ,.'-]{1,60}/?[)\]>*]")
"""A remark of the transcriber within an answer; to nod and to shake one's head answers."""
_SUICIDE: Final = frozenset({RiskCategory.SUICIDAL_IDEATION, RiskCategory.SELF_HARM})


class DangerReply(StrEnum):
    """What the opening of a turn says to a question; the values are keys of the vocabulary."""

    YES = "yes"
    NO = "no"
    """A plain denial, and nothing that takes anything from it."""
    ALMOST_NO = "almost_no"
    """It denies, but not plainly: "not really", "I wouldn't"."""
    OVER = "over"
    """It says of what was that it is no more, or that it was long ago."""
    UNCLEAR = "unclear"
    """It limits an answer or leaves it open: "not so far", "maybe"."""
    UNANSWERED = "unanswered"
    """It refuses or evades an answer, asks back, or is silent: "I'd rather not say", "(pause)"."""
    WELL = "well"
    """It praises what was asked about: "he's a lamb" after "do you feel safe with him?"."""
    UNTOLD = "untold"
    """It answers neither yes nor no."""
    NOT_UNDERSTOOD = "not_understood"


_NOT_TOLD: Final = frozenset({DangerReply.UNTOLD, DangerReply.WELL, DangerReply.UNANSWERED})
_FAINT: Final = frozenset({DangerReply.ALMOST_NO, DangerReply.OVER})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A stretch of a turn between two commas or ends of a clause."""

    text: str
    texts: tuple[str, ...]
    """Its words, no filler left out."""
    end: int
    """Where its clause ends, in characters of the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """What the opening of a turn says, and where the words that say so end."""

    said: DangerReply
    end: int
    is_plain: bool = False
    """Whether a yes is nothing but a yes."""
    is_taken_back: bool = False
    """Whether a condition, an exception or a means stands beside a plain no."""
    is_left_open: bool = False
    """Whether it is silent or only asks something, so that the question may be put again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a turn answers; offsets are characters of the turn's words."""

    kind: RiskKind
    polarity: RiskPolarity
    level: RiskLevel
    start: int
    end: int
    is_told: bool
    """Whether it says something by itself, and not only tells a story."""
    is_taken_back: bool
    """Whether a plain denial is left with a condition, an exception or a means beside it."""
    is_long_over: bool
    """Whether it dates something as distant, and says that it is over since."""
    is_unanswered: bool
    """Whether the question was asked and not answered."""
    is_left_open: bool
    """Whether it is silent or only asks something, so that the question may be put again."""


def answer_to(question: DangerQuestion, words: str, clauses: Sequence[Clause]) -> Answer | None:
    """Read a turn as the answer; `None` for a turn without any characters."""
    clauses = [clause for clause in clauses if words[clause.start : clause.end].strip()]
    if not clauses:
        return None
    acts = frozenset() if question.kind in _THOUGHTS else reply_words("acts")
    reply = _opening_reply(words, clauses, question.words | acts)
    matched = match_replies(words[clauses[0].start : clauses[:_READ_CLAUSES][-1].end])
    finished = list(matched.among("finished"))
    goes_on = any(
        not any(one.first <= hit.first <= one.last for one in finished)
        for hit in matched.among("going_on")
    )
    is_distant = question.is_distant or any(matched.among("distant"))
    is_over = is_distant and bool(finished) and not goes_on
    fills_in = reply.said is DangerReply.UNTOLD and _fills_in(question, words)
    if fills_in or (reply.said is DangerReply.OVER and goes_on):
        reply = replace(reply, said=DangerReply.YES)
    polarity = _polarity(question, reply)
    if polarity is not RiskPolarity.DENIED and is_over:
        polarity = RiskPolarity.PAST
    start = len(words) - len(words[clauses[0].start :].lstrip())
    return Answer(
        kind=question.kind,
        polarity=polarity,
        level=_level(question, reply, polarity, matched.texts),
        start=start,
        end=max(reply.end, start + 1),
        is_told=reply.said not in _NOT_TOLD,
        is_taken_back=reply.is_taken_back,
        is_long_over=is_over,
        is_unanswered=reply.said is DangerReply.UNANSWERED,
        is_left_open=reply.is_left_open,
    )


def is_unanswered(signal: RiskSignal) -> bool:
    """Return whether a sign is a question that was asked and not answered; of a finished report."""
    if signal.polarity is not RiskPolarity.UNCLEAR or signal.question is None:
        return False
    words = signal.sentence
    answers = (answer_to(one, words, clauses_of(words)) for one in questions_in(signal.question))
    return any(one is not None and one.is_unanswered for one in answers)


def _fills_in(question: DangerQuestion, words: str) -> bool:
    """Whether an answer that says neither yes nor no names what was asked for."""
    if question.is_about_safety:
        return False
    spoken = every_word(words[:OPENING_CHARACTERS]).texts
    return len(spoken) <= _SHORT or not question.words.isdisjoint(reply_words("asking_what"))


def _polarity(question: DangerQuestion, reply: _Reply) -> RiskPolarity:
    if question.is_about_safety:
        if reply.said is DangerReply.WELL or (reply.said is DangerReply.YES and reply.is_plain):
            return RiskPolarity.DENIED
        is_unsafe = reply.said in {DangerReply.NO, DangerReply.ALMOST_NO, DangerReply.OVER}
        return RiskPolarity.AFFIRMED if is_unsafe else RiskPolarity.UNCLEAR
    match reply.said:
        case DangerReply.NO:
            return RiskPolarity.DENIED
        case DangerReply.YES if not question.is_leading:
            is_hypothetical = question.is_hypothetical
            return RiskPolarity.HYPOTHETICAL if is_hypothetical else RiskPolarity.AFFIRMED
        case _:
            return RiskPolarity.UNCLEAR


def _level(
    question: DangerQuestion, reply: _Reply, polarity: RiskPolarity, texts: Sequence[str]
) -> RiskLevel:
    if polarity in {RiskPolarity.DENIED, RiskPolarity.PAST}:
        return level_of(polarity, question.level)
    is_hypothetical = polarity is RiskPolarity.HYPOTHETICAL
    is_of_self = question.kind.category in _SUICIDE
    urgent = reply_words("means") if is_of_self else reply_words("violence")
    is_untold = reply.said is DangerReply.UNTOLD
    is_act = question.kind in _ACTS and is_untold and not question.is_about_safety
    names_urgent = not urgent.isdisjoint(texts) and (is_of_self or not is_hypothetical)
    if is_act or names_urgent:
        return RiskLevel.HIGH
    is_faint = is_untold or reply.is_left_open or reply.said in _FAINT
    if is_hypothetical or is_faint:
        return RiskLevel.HIGH if polarity is RiskPolarity.AFFIRMED else RiskLevel.MODERATE
    return question.level


def reply_in(statement: Statement) -> DangerReply:
    """Read one clause; the first phrase that is a reply decides."""
    first = next(statement.matched.among("replies"), None)
    if first is None:
        return DangerReply.UNTOLD
    return DangerReply.NO if first.kind == "plain_no" else DangerReply(first.kind)


def _opening_reply(words: str, clauses: Sequence[Clause], asked: frozenset[str]) -> _Reply:
    """Read what the first clauses of a turn say to a question.

    `asked`: what leaves a denial plain beside the words that always do.
    """
    # A remark of the transcriber, such as "(pause)", is not spoken.
    spoken = _REMARK.sub(lambda remark: " " * len(remark[0]), words)
    pieces = list(islice((piece for clause in clauses for piece in _cut(spoken, clause)), _PIECES))
    if all(map(reply_words("silent").issuperset, (piece.texts for piece in pieces))):
        return _Reply(said=DangerReply.UNANSWERED, end=clauses[0].end, is_left_open=True)
    if _asks_back(pieces, asked):
        return _Reply(said=DangerReply.UNANSWERED, end=pieces[-1].end, is_left_open=True)
    told = ((at, _said(piece, asked)) for at, piece in enumerate(pieces))
    at, said = next((one for one in told if one[1] is not DangerReply.UNTOLD), (-1, None))
    if said is None:
        return _Reply(said=DangerReply.UNTOLD, end=pieces[-1].end)
    if said is DangerReply.NO:
        return _after_no(pieces[at:], asked)
    rest = pieces[at:]
    if said is DangerReply.NOT_UNDERSTOOD:
        return _Reply(said=DangerReply.UNANSWERED, end=rest[0].end, is_left_open=True)
    is_plain = (reply_words("plain_yes") | asked).issuperset(rest[0].texts)
    is_taken_back = any(map(_takes_back, rest[1 : 1 + _TAKEN_BACK_WITHIN])) or _is_qualified(rest)
    return _Reply(said=said, is_plain=is_plain and not is_taken_back, end=rest[0].end)


def _is_plain_denial(texts: Sequence[str], asked: frozenset[str]) -> bool:
    """Return whether words deny and say nothing else."""
    spoken = _without_leads(texts)
    known = reply_words("plain") | reply_words("denials") | asked
    return (
        not known.isdisjoint(spoken)
        and not reply_words("denials").isdisjoint(spoken)
        and known.issuperset(spoken)
        and not any(match_replies(" ".join(texts)).among("hedged"))
    )


def denies_faintly(text: str) -> bool:
    """Return whether a clause does not deny plainly: "I don't think I'd kill myself"."""
    if any(match_replies(text).among("hedged")):
        return True
    return not {"wouldnt", "couldnt", "wont"}.isdisjoint(every_word(text).texts)


def _said(piece: _Piece, asked: frozenset[str]) -> DangerReply:
    if reply_words("leads").issuperset(piece.texts):
        return DangerReply.UNTOLD
    if _is_plain_denial(piece.texts, asked):
        return DangerReply.NO
    statement = read_statement(piece.text)
    first = next(statement.matched.among("replies"), None)
    if first is None:
        return DangerReply.UNTOLD
    said = reply_in(statement)
    following = statement.texts[first.last + 1 : first.last + 2]
    # "I have never hit a woman in my life."
    is_denied_at_once = said is DangerReply.YES and following in {("never",), ("not",), ("no",)}
    return DangerReply.ALMOST_NO if is_denied_at_once or first.kind == "no" else said


def _after_no(pieces: Sequence[_Piece], asked: frozenset[str]) -> _Reply:
    """Read what follows a plain denial: it may take it back, or something of it."""
    no, *rest = pieces
    for piece in pieces:
        matched = read_statement(piece.text).matched
        is_idiom = any(hit.kind == "plain_no" for hit in matched.among("replies"))
        # "Sometimes" takes it back only where it stands alone.
        is_bare = len(matched.texts) <= 2
        rising = matched.among("rising")
        if not is_idiom and any(hit.last > hit.first or is_bare for hit in rising):
            return _Reply(said=DangerReply.YES, end=piece.end)
    for piece in rest[:_TAKEN_BACK_WITHIN]:
        is_agreed = not reply_words("agreeing").isdisjoint(_without_leads(piece.texts)[:1])
        if is_agreed or (_takes_back(piece) and not _is_plain_denial(piece.texts, asked)):
            return _Reply(said=DangerReply.ALMOST_NO, end=piece.end)
    if _is_qualified(pieces) or _names_danger(rest, asked):
        return _Reply(said=DangerReply.ALMOST_NO, is_taken_back=True, end=pieces[-1].end)
    return _Reply(said=DangerReply.NO, end=no.end)


def _is_qualified(pieces: Sequence[_Piece]) -> bool:
    """Whether a condition, an exception or a lack of courage stands beside a yes or a no."""
    text = " ".join(word for piece in pieces for word in piece.texts)
    return any(match_replies(text).among("qualified"))


def _names_danger(pieces: Sequence[_Piece], asked: frozenset[str]) -> bool:
    """Whether a means or violence is named that neither a denial nor the question holds."""
    urgent = (reply_words("means") | reply_words("violence")) - asked - reply_words("written")
    denying = reply_words("denials") | reply_words("limits")
    return any(
        not urgent.isdisjoint(piece.texts) and denying.isdisjoint(piece.texts) for piece in pieces
    )


def _takes_back(piece: _Piece) -> bool:
    if piece.texts[0] in reply_words("turning"):
        return not reply_words("taken_up").isdisjoint(piece.texts)
    said = reply_in(read_statement(piece.text))
    if said is DangerReply.UNANSWERED:
        # "No. Why do you ask?" takes nothing back.
        return not is_asked(piece.text)
    if said is DangerReply.UNCLEAR:
        return True
    texts = _without_leads(piece.texts) or piece.texts
    return (
        texts[0] in reply_words("taking_back")
        or any(hit.first <= 1 for hit in match_replies(" ".join(texts)).among("hedged"))
        or texts[:2] in {("i", "guess"), ("i", "suppose"), ("i", "dunno")}
    )


def _without_leads(texts: Sequence[str]) -> tuple[str, ...]:
    at = 0
    while at < len(texts) and texts[at] in reply_words("leads"):
        at += 1
    # "I" leads in "I mean" and begins "I haven't".
    return tuple(texts[max(0, at - 1) if at and texts[at - 1] == "i" else at :])


def _asks_back(pieces: Sequence[_Piece], asked: frozenset[str]) -> bool:
    """Whether a turn only asks what is meant or how the other one is."""
    asking = [piece for piece in pieces if is_asked(piece.text) and not _is_rhetorical(piece)]
    if not asking:
        return False
    if all((asked | reply_words("repeating")).issuperset(piece.texts) for piece in pieces):
        # It only says the question again, or asks whether it was that.
        return True
    return len(asking) == len(pieces) and any(
        not reply_words("asking_back").isdisjoint(piece.texts) for piece in pieces
    )


def _is_rhetorical(piece: _Piece) -> bool:
    """Whether a question says yes of everybody: "who doesn't?"."""
    return piece.texts[:1] == ("who",) and not reply_words("denials").isdisjoint(piece.texts)


def _cut(words: str, clause: Clause) -> Iterator[_Piece]:
    text = words[clause.start : clause.end]
    spoken = every_word(text)
    first = 0
    cuts = sorted({*spoken.after_comma, *_after_bare_no(spoken.texts), len(spoken.texts)})
    for until in cuts:
        if until <= first:
            continue
        start = spoken.spans[first][0]
        end = len(text.rstrip()) if until == len(spoken.texts) else spoken.spans[until - 1][1]
        yield _Piece(
            text=text[start:end],
            texts=spoken.texts[first:until],
            end=clause.start + len(text.rstrip()),
        )
        first = until


def _after_bare_no(texts: tuple[str, ...]) -> set[int]:
    """Where a statement begins after a "no" without a comma."""
    return {
        at
        for at in range(1, min(4, len(texts)))
        if texts[at - 1] in _BARE and texts[at] in reply_words("beginning")
    }
