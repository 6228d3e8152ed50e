"""Whether a danger is affirmed, denied, over, supposed, or somebody else's."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.risk import RiskKind, RiskPolarity
from ai_psychiatrist.services.language.matcher import Hit
from ai_psychiatrist.services.risk.replies import Reply, reply_in
from ai_psychiatrist.services.risk.statement import FIRST_PERSON, Danger, Statement

_REACH: Final = 9
"""How many words before a danger a negator governs."""
_AFTER: Final = 4
"""How many words after a danger its denial may begin."""
_MARK: Final = re.compile(r"[\"“”‘]|(?<=[\s,])'")
_INNER_NEGATORS: Final = frozenset({"never", "doesnt", "didnt", "hasnt", "isnt", "wasnt"})
"""Words that deny an abuse within its own phrase: "he never hit me"."""
_SENTENCE_END: Final = re.compile(r"[.?!。！？]\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The statements around one; `None` at the edges of a turn."""

    before: Statement | None
    after: Statement | None


def polarity_of_danger(
    danger: Danger, statement: Statement, surroundings: Surroundings
) -> RiskPolarity:
    """Read how a danger is spoken of; what cannot be told is affirmed."""
    if danger.is_of_others:
        return RiskPolarity.QUOTED
    if _is_quoted(danger, statement, surroundings):
        return _answered(statement, surroundings.after) or RiskPolarity.QUOTED
    if _is_denied(danger, statement):
        return RiskPolarity.PAST if _is_over(danger, statement) else RiskPolarity.DENIED
    if _is_past(danger, statement, surroundings):
        return RiskPolarity.PAST
    if _is_supposed(danger, statement, surroundings.before):
        return RiskPolarity.HYPOTHETICAL
    return RiskPolarity.AFFIRMED


def _answered(statement: Statement, after: Statement | None) -> RiskPolarity | None:
    """Read what a participant who repeats a question then answers."""
    if statement.has("affirming") or (after is not None and after.has("affirming")):
        return RiskPolarity.AFFIRMED
    if after is None or not statement.is_question:
        return None
    match reply_in(after):
        case Reply.YES:
            return RiskPolarity.AFFIRMED
        case Reply.NO:
            return RiskPolarity.DENIED
        case Reply.OVER:
            return RiskPolarity.PAST
        case _:
            return None


def _before(danger: Danger, statement: Statement) -> Iterator[Hit]:
    """Yield the cues before a danger, the nearest first."""
    return (hit for hit in reversed(statement.cues) if hit.first < danger.first)


def _is_quoted(danger: Danger, statement: Statement, around: Surroundings) -> bool:
    before = tuple(_before(danger, statement))
    if any(hit.kind in {"echo", "speech"} for hit in before) or _is_speech_of_another(
        around.before
    ):
        return True
    if _is_in_marks(danger, statement, before):
        return True
    if statement.is_question and danger.is_active:
        return statement.has("echo") or not (danger.is_own or _says_i(statement))
    if statement.is_nothing_else and _asks_back(around.after):
        return True
    if danger.is_own or not danger.is_active or danger.kind is RiskKind.ABUSE_BY_OTHERS:
        return False
    return _is_of_somebody(before)


def _asks_back(after: Statement | None) -> bool:
    """Whether the next clause is of the kind "is that what you said?"."""
    return after is not None and after.has("echo") and "you" in after.texts


def _is_speech_of_another(before: Statement | None) -> bool:
    return before is not None and before.has("speech") and not _SENTENCE_END.search(before.text)


def _is_in_marks(danger: Danger, statement: Statement, before: tuple[Hit, ...]) -> bool:
    """Whether quotation marks enclose a danger, or open after "she said"."""
    text, start, spans = statement.text, danger.start, statement.heard.words.spans
    if _MARK.fullmatch(text[max(0, start - 1) : start]) and _MARK.match(text, danger.end):
        return True
    return any(
        hit.kind == "reported" and _MARK.search(text, spans[hit.last][1], start + 1)
        for hit in before
    )


def _is_of_somebody(before: tuple[Hit, ...]) -> bool:
    """Whether the nearest person before the danger is not the speaker."""
    nearest = next((hit for hit in before if hit.kind in {"subject", "me", "somebody"}), None)
    return nearest is not None and nearest.kind == "somebody"


def _says_i(statement: Statement) -> bool:
    return not FIRST_PERSON.isdisjoint(statement.texts)


def _is_denied(danger: Danger, statement: Statement) -> bool:
    if danger.kind is RiskKind.ABUSE_BY_OTHERS and not _INNER_NEGATORS.isdisjoint(
        danger.texts[1:3]
    ):
        return True
    if any(hit.kind == "until_now" and hit.first > danger.last for hit in statement.cues):
        return False
    strong = weak = 0
    is_other_statement = False
    for hit in _before(danger, statement):
        if danger.first - hit.last > _REACH or hit.kind == "breaker":
            break
        if hit.kind in {"negator", "weak_negator"}:
            if is_other_statement:
                break
            strong += hit.kind == "negator"
            weak += hit.kind == "weak_negator"
        elif hit.kind == "carrier":
            is_other_statement = False
        elif hit.kind in {"subject", "somebody"}:
            is_other_statement = True
    if strong + weak == 0:
        return _is_denied_after(danger, statement)
    return strong % 2 == 1 or strong == 0


def _is_denied_after(danger: Danger, statement: Statement) -> bool:
    return any(
        hit.kind == "denied_after" and 0 < hit.first - danger.last <= _AFTER
        for hit in statement.cues
    )


def _is_over(danger: Danger, statement: Statement) -> bool:
    return any(hit.kind in {"over", "closed"} and hit.first > danger.last for hit in statement.cues)


def _is_past(danger: Danger, statement: Statement, surroundings: Surroundings) -> bool:
    if _is_ended(danger, statement) or _is_disowned(surroundings.after):
        return True
    # "I want to die, as I did when I was young" is no thing of the past.
    if statement.first_past_verb is None or statement.first_past_verb > danger.last:
        return False
    if statement.is_past or _is_closed(danger, statement, surroundings.after):
        return True
    before = surroundings.before
    return (
        before is not None
        and before.is_past
        and not before.dangers
        and not statement.has("recent")
        and _SENTENCE_END.search(before.text) is None
    )


def _is_disowned(after: Statement | None) -> bool:
    """Whether the next clause says that it is over: "but not anymore"."""
    return after is not None and not after.dangers and _opens_with("over", after)


def _is_closed(danger: Danger, statement: Statement, after: Statement | None) -> bool:
    """Whether it is called bygone, in the same clause or the next: "that was years ago"."""
    if any(hit.kind == "closed" and hit.first > danger.last for hit in statement.cues):
        return True
    return after is not None and not after.dangers and _opens_with("closed", after)


def _opens_with(cue: str, after: Statement) -> bool:
    return any(hit.kind == cue and hit.first <= 3 and hit.last > hit.first for hit in after.cues)


def _is_ended(danger: Danger, statement: Statement) -> bool:
    return any(hit.kind == "ended" and 0 <= danger.first - hit.first <= 4 for hit in statement.cues)


def _is_supposed(danger: Danger, statement: Statement, before: Statement | None) -> bool:
    if statement.has("indicative") or _is_announced(danger, statement):
        return False
    if any(hit.kind == "hypothetical" for hit in _before(danger, statement)):
        return True
    return (
        before is not None
        and before.has("hypothetical")
        and not before.has("indicative")
        and _SENTENCE_END.search(before.text) is None
    )


def _is_announced(danger: Danger, statement: Statement) -> bool:
    return any(
        hit.kind == "intent" and danger.first - hit.last <= 2 for hit in _before(danger, statement)
    )
