"""What the opening of a turn says to the question before it: yes, plainly no, or neither."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from ai_psychiatrist.services.language.clauses import Clause, is_asked
from ai_psychiatrist.services.language.spoken import every_word
from ai_psychiatrist.services.risk.statement import Statement, read_statement
from ai_psychiatrist.services.risk.vocabulary import match_replies, reply_words

_PIECES: Final = 8
"""How many pieces of a turn may answer the question."""
_TAKEN_BACK_WITHIN: Final = 2
"""How many pieces after a "no" may take something from it."""
_BARE: Final = frozenset({"no", "nope", "nah", "yes", "yeah"})


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
    """It puts off, limits or refuses an answer: "not today", "I'd rather not say"."""
    WELL = "well"
    """It praises what was asked about: "he's a lamb" after "do you feel safe with him?"."""
    UNTOLD = "untold"
    """It answers neither yes nor no."""
    NOT_UNDERSTOOD = "not_understood"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a turn between two commas or ends of a clause."""

    text: str
    texts: tuple[str, ...]
    """Its words, no filler left out."""
    end: int
    """Where its clause ends, in characters of the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the opening of a turn says, and where the words that say so end."""

    said: DangerReply
    is_plain: bool
    """Whether a yes is nothing but a yes."""
    end: int
    is_taken_back: bool = False
    """Whether a condition, an exception or a means stands beside a plain no."""


def reply_in(statement: Statement) -> DangerReply:
    """Read one clause; the first phrase that is a reply decides."""
    first = next(statement.matched.among("replies"), None)
    if first is None:
        return DangerReply.UNTOLD
    return DangerReply.NO if first.kind == "plain_no" else DangerReply(first.kind)


def opening_reply(words: str, clauses: Sequence[Clause], asked: frozenset[str]) -> Reply | None:
    """Read what the first clauses of a turn say to a question; `None` where it is put back.

    `asked`: what leaves a denial plain beside the words that always do.
    """
    pieces = [piece for piece in _pieces(words, clauses) if piece.texts]
    if not pieces or _asks_back(pieces, asked):
        return None
    told = ((at, _said(piece, asked)) for at, piece in enumerate(pieces))
    first = next((one for one in told if one[1] is not DangerReply.UNTOLD), None)
    if first is None:
        return Reply(said=DangerReply.UNTOLD, is_plain=False, end=pieces[-1].end)
    at, said = first
    reply = Reply(said=said, is_plain=_is_plain_yes(pieces[at], asked), end=pieces[at].end)
    if said is DangerReply.NO:
        return _after_no(pieces, at, reply, asked)
    is_taken_back = any(map(_takes_back, _following(pieces, at))) or _is_qualified(pieces[at:])
    return replace(reply, is_plain=reply.is_plain and not is_taken_back)


def is_plain_denial(texts: Sequence[str], asked: frozenset[str] = frozenset()) -> bool:
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


def _said(piece: Piece, asked: frozenset[str]) -> DangerReply:
    if reply_words("leads").issuperset(piece.texts):
        return DangerReply.UNTOLD
    if is_plain_denial(piece.texts, asked):
        return DangerReply.NO
    statement = read_statement(piece.text)
    said = reply_in(statement)
    if said is DangerReply.NO:
        is_idiom = next(statement.matched.among("replies")).kind == "plain_no"
        return DangerReply.NO if is_idiom else DangerReply.ALMOST_NO
    if said is DangerReply.YES and _is_denied_at_once(statement):
        # "I have never hit a woman in my life."
        return DangerReply.ALMOST_NO
    return said


def _is_denied_at_once(statement: Statement) -> bool:
    hit = next(statement.matched.among("replies"))
    return statement.texts[hit.last + 1 : hit.last + 2] in {("never",), ("not",), ("no",)}


def _after_no(pieces: Sequence[Piece], at: int, reply: Reply, asked: frozenset[str]) -> Reply:
    """Read what follows a plain denial: it may take it back, or something of it."""
    for piece in pieces[at:]:
        statement = read_statement(piece.text)
        if any(hit.kind == "plain_no" for hit in statement.matched.among("replies")):
            continue
        if any(
            _is_rising(statement, hit.first, hit.last) for hit in statement.matched.among("rising")
        ):
            return Reply(said=DangerReply.YES, is_plain=False, end=piece.end)
    for piece in _following(pieces, at):
        if _takes_back(piece) and not is_plain_denial(piece.texts, asked):
            return Reply(said=DangerReply.ALMOST_NO, is_plain=False, end=piece.end)
    if _is_qualified(pieces[at:]) or _names_danger(pieces[at + 1 :], asked):
        end = pieces[-1].end
        return Reply(said=DangerReply.ALMOST_NO, is_plain=False, is_taken_back=True, end=end)
    return reply


def _is_qualified(pieces: Sequence[Piece]) -> bool:
    """Whether a condition, an exception or a lack of courage stands beside a yes or a no."""
    text = " ".join(word for piece in pieces for word in piece.texts)
    return any(match_replies(text).among("qualified"))


def _names_danger(pieces: Sequence[Piece], asked: frozenset[str]) -> bool:
    """Whether a means or violence is named that neither a denial nor the question holds."""
    urgent = (reply_words("means") | reply_words("violence")) - asked - reply_words("written")
    denying = reply_words("denials") | reply_words("limits")
    return any(
        not urgent.isdisjoint(piece.texts) and denying.isdisjoint(piece.texts) for piece in pieces
    )


def _is_rising(statement: Statement, first: int, last: int) -> bool:
    """Whether a phrase takes a "no" back: "sometimes" only where it stands alone."""
    is_alone = last - first + 1 >= len(statement.texts) - 1
    return last > first or is_alone


def _following(pieces: Sequence[Piece], at: int) -> Iterator[Piece]:
    yield from pieces[at + 1 : at + 1 + _TAKEN_BACK_WITHIN]


def _takes_back(piece: Piece) -> bool:
    texts = _without_leads(piece.texts) or piece.texts
    if piece.texts[0] in reply_words("turning"):
        return not reply_words("taken_up").isdisjoint(piece.texts)
    hits = list(match_replies(" ".join(texts)).among("hedged"))
    if reply_in(read_statement(piece.text)) is DangerReply.UNCLEAR:
        return True
    return (
        texts[0] in reply_words("taking_back")
        or any(hit.first <= 1 for hit in hits)
        or (texts[:2] in {("i", "guess"), ("i", "suppose"), ("i", "dunno")})
    )


def _is_plain_yes(piece: Piece, asked: frozenset[str]) -> bool:
    return (reply_words("plain_yes") | asked).issuperset(piece.texts)


def _without_leads(texts: Sequence[str]) -> tuple[str, ...]:
    at = 0
    while at < len(texts) and texts[at] in reply_words("leads"):
        at += 1
    # "I" leads in "I mean" and begins "I haven't".
    return tuple(texts[max(0, at - 1) if at and texts[at - 1] == "i" else at :])


def _asks_back(pieces: Sequence[Piece], asked: frozenset[str]) -> bool:
    """Whether a turn only asks what is meant or how the other one is."""
    asking = [piece for piece in pieces if is_asked(piece.text) and not _is_rhetorical(piece)]
    if asking and all(_repeats(piece, asked) for piece in pieces):
        return True
    if not asking or len(asking) < len(pieces):
        return False
    return any(not reply_words("asking_back").isdisjoint(piece.texts) for piece in pieces)


def _is_rhetorical(piece: Piece) -> bool:
    """Whether a question says yes of everybody: "who doesn't?"."""
    return piece.texts[:1] == ("who",) and not reply_words("denials").isdisjoint(piece.texts)


def _repeats(piece: Piece, asked: frozenset[str]) -> bool:
    """Whether it only says the question again, or asks whether it was that."""
    return (asked | reply_words("repeating")).issuperset(piece.texts)


def _pieces(words: str, clauses: Sequence[Clause]) -> Iterator[Piece]:
    count = 0
    for clause in clauses:
        for piece in _cut(words, clause):
            yield piece
            count += 1
            if count == _PIECES:
                return


def _cut(words: str, clause: Clause) -> Iterator[Piece]:
    text = words[clause.start : clause.end]
    spoken = every_word(text)
    first = 0
    cuts = sorted({*spoken.after_comma, *_after_bare_no(spoken.texts), len(spoken.texts)})
    for until in cuts:
        if until <= first:
            continue
        start = spoken.spans[first][0]
        end = len(text.rstrip()) if until == len(spoken.texts) else spoken.spans[until - 1][1]
        yield Piece(
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
