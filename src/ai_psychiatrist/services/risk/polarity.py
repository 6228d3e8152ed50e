"""Whether a danger is affirmed, denied, over, supposed, or somebody else's.

What governs the words is read as for any other concept; here it is only weighed for a danger:
what cannot be told is taken as said.
"""

import re
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.risk import RiskKind, RiskPolarity
from ai_psychiatrist.services.language.assertion import Status
from ai_psychiatrist.services.language.experiencer import is_reported, last_person, may_be_own
from ai_psychiatrist.services.language.triggers import is_denied
from ai_psychiatrist.services.language.vocabulary import words
from ai_psychiatrist.services.risk.replies import DangerReply, reply_in
from ai_psychiatrist.services.risk.statement import DangerPhrase, Statement, is_of_speaker
from ai_psychiatrist.services.risk.vocabulary import danger_words

_AFTER: Final = 4
"""How many words after a danger its denial may begin."""
_ENDED: Final = 4
"""How many words before it what ended it stands at most: "stopped", "used to"."""
_ANNOUNCED: Final = 2
"""How many words before it "I'll" stands at most."""
_SUBJECT_WITHIN: Final = 2
"""How many words before a danger its own subject stands: "I'm suicidal"."""
_MARK: Final = re.compile(r"[\"“”‘]|(?<=[\s,])'")
_WITH_OTHERS: Final = frozenset(
    {RiskKind.ABUSE_BY_OTHERS, RiskKind.COMMAND_VOICES, RiskKind.BURDEN_AND_DESPAIR}
)
"""What others do to the speaker, or would be spared: another's name before it says nothing."""
_SENTENCE_END: Final = re.compile(r"[.?!。！？]\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The statements around one; `None` at the edges of a turn."""

    before: Statement | None
    after: Statement | None
    is_past: bool
    """Whether the danger stands in a time that is over."""


def polarity_of_danger(
    danger: DangerPhrase, statement: Statement, around: Surroundings
) -> RiskPolarity:
    """Read how a danger is spoken of; what cannot be told is affirmed."""
    if danger.is_of_others:
        return RiskPolarity.QUOTED
    if _is_quoted(danger, statement, around):
        return _answered(statement, around.after) or RiskPolarity.QUOTED
    if _is_denied(danger, statement):
        is_over = _follows(danger, statement, {"over", "closed"})
        return RiskPolarity.PAST if is_over else RiskPolarity.DENIED
    if _is_past(danger, statement, around):
        return RiskPolarity.PAST
    if _is_supposed(danger, statement, around.before):
        return RiskPolarity.HYPOTHETICAL
    return RiskPolarity.AFFIRMED


def _answered(statement: Statement, after: Statement | None) -> RiskPolarity | None:
    """Read what a participant who repeats a question then answers."""
    if statement.has("affirming") or (after is not None and after.has("affirming")):
        return RiskPolarity.AFFIRMED
    if after is None or not statement.is_question:
        return None
    match reply_in(after):
        case DangerReply.YES:
            return RiskPolarity.AFFIRMED
        case DangerReply.NO:
            return RiskPolarity.DENIED
        case DangerReply.OVER:
            return RiskPolarity.PAST
        case _:
            return None


def _is_quoted(danger: DangerPhrase, statement: Statement, around: Surroundings) -> bool:
    if _precedes(danger, statement, {"echo", "speech"}) or _is_speech_of_another(around.before):
        return True
    if _is_in_marks(danger, statement) or _is_framed(danger, statement, around.before):
        return True
    if statement.is_question and danger.is_active:
        return statement.has("echo") or not (danger.is_own or is_of_speaker(statement.texts))
    if statement.is_nothing_else and _asks_back(around.after):
        return True
    if danger.kind is RiskKind.BURDEN_AND_DESPAIR:
        return _is_told_of_another(danger, statement)
    return danger.kind not in _WITH_OTHERS and _is_of_somebody(danger, statement)


def _is_of_somebody(danger: DangerPhrase, statement: Statement) -> bool:
    matched, hit = statement.said, statement.place(danger)
    is_named = not words("self_named").isdisjoint(matched.texts)
    if danger.is_joined and is_of_speaker(statement.texts):
        # "My dad's rifle is upstairs" is at hand all the same.
        return False
    if danger.is_own or (is_named and may_be_own(matched, hit)):
        return False
    company = statement.covered("company")
    before = (word for at, word in enumerate(matched.texts[: hit.first]) if at not in company)
    return is_reported(matched, hit) or last_person(tuple(before)) is Status.OTHER


def _is_told_of_another(danger: DangerPhrase, statement: Statement) -> bool:
    """Whether somebody else says it of themselves: "he says there's no way out for him"."""
    matched, hit = statement.said, statement.place(danger)
    is_of_self = not words("self_named").isdisjoint(matched.texts)
    return not is_of_self and not danger.is_own and is_reported(matched, hit)


def _is_framed(danger: DangerPhrase, statement: Statement, before: Statement | None) -> bool:
    """Whether it is talk of patients, of a film, or of what is taught, and not the speaker's."""
    if _precedes(danger, statement, {"frame_speech"}) or (
        before is not None
        and before.has("frame_speech")
        and _SENTENCE_END.search(before.text) is None
    ):
        return True
    if danger.is_own:
        return False
    matched, hit = statement.said, statement.place(danger)
    near = matched.texts[max(0, hit.first - _SUBJECT_WITHIN) : hit.first]
    if not words("self_subjects").isdisjoint(near):
        return False
    is_of_two = danger.kind in {RiskKind.HARM_TO_OTHERS, RiskKind.ABUSE_BY_OTHERS}
    return any(
        cue.last < danger.first or (cue.first > danger.last and not is_of_two)
        for cue in statement.cues
        if cue.kind == "frame" and not _has_subject(statement.texts[cue.last + 1 : danger.first])
    )


def _has_subject(texts: tuple[str, ...]) -> bool:
    return not words("self_subjects").isdisjoint(texts)


def _asks_back(after: Statement | None) -> bool:
    """Whether the next clause is of the kind "is that what you said?"."""
    return after is not None and after.has("echo") and "you" in after.texts


def _is_speech_of_another(before: Statement | None) -> bool:
    return before is not None and before.has("speech") and not _SENTENCE_END.search(before.text)


def _is_in_marks(danger: DangerPhrase, statement: Statement) -> bool:
    """Whether quotation marks enclose a danger, or open after "she said"."""
    text, start, spans = statement.text, danger.start, statement.matched.words.spans
    if _MARK.fullmatch(text[max(0, start - 1) : start]) and _MARK.match(text, danger.end):
        return True
    return any(
        hit.kind == "reported" and _MARK.search(text, spans[hit.last][1], start + 1)
        for hit in statement.cues
        if hit.first < danger.first
    )


def _precedes(danger: DangerPhrase, statement: Statement, cues: set[str]) -> bool:
    return not statement.cue_kinds.isdisjoint(cues) and any(
        hit.kind in cues and hit.first < danger.first for hit in statement.cues
    )


def _follows(danger: DangerPhrase, statement: Statement, cues: set[str]) -> bool:
    return not statement.cue_kinds.isdisjoint(cues) and any(
        hit.kind in cues and hit.first > danger.last for hit in statement.cues
    )


def _is_denied(danger: DangerPhrase, statement: Statement) -> bool:
    inside = danger_words("inner_negators").intersection(danger.texts[1:3])
    if inside and danger.kind is RiskKind.ABUSE_BY_OTHERS:
        return True
    if _follows(danger, statement, {"until_now"}):
        return False
    matched, hit = statement.said, statement.place(danger)
    return is_denied(matched, hit, statement.covered("not_denied")) or (
        statement.has("denied_after") and _is_denied_after(danger, statement)
    )


def _is_denied_after(danger: DangerPhrase, statement: Statement) -> bool:
    return any(
        cue.kind == "denied_after"
        and 0 < cue.first - danger.last <= _AFTER
        and danger_words("turning").isdisjoint(statement.texts[danger.last + 1 : cue.first])
        and not statement.has("so_far")
        for cue in statement.cues
    )


def _is_past(danger: DangerPhrase, statement: Statement, around: Surroundings) -> bool:
    if _is_ended(danger, statement) or _opens_with("over", around.after):
        return True
    if danger.kind is RiskKind.SELF_INJURY and any(
        hit.kind == "closed" and hit.last > danger.last for hit in statement.cues
    ):
        # "The scars are old."
        return True
    # "I want to die, as I did when I was young" is no thing of the past.
    return statement.has_past_verb(danger) and (
        ((around.is_past or statement.is_past) and not _follows(danger, statement, {"until_now"}))
        or _follows(danger, statement, {"closed"})
        or _opens_with("closed", around.after)
    )


def _is_ended(danger: DangerPhrase, statement: Statement) -> bool:
    return statement.has("ended") and any(
        hit.kind == "ended" and 0 <= danger.first - hit.first <= _ENDED for hit in statement.cues
    )


def _opens_with(cue: str, after: Statement | None) -> bool:
    """Whether the next clause says that it is over: "but not anymore", "that was years ago"."""
    return (
        after is not None
        and not after.dangers
        and any(hit.kind == cue and hit.first <= 3 and hit.last > hit.first for hit in after.cues)
    )


def _is_supposed(danger: DangerPhrase, statement: Statement, before: Statement | None) -> bool:
    if statement.has("indicative") or _is_announced(danger, statement):
        return False
    if _precedes(danger, statement, {"hypothetical"}):
        return True
    return (
        before is not None
        and before.has("hypothetical")
        and not before.has("indicative")
        and _SENTENCE_END.search(before.text) is None
    )


def _is_announced(danger: DangerPhrase, statement: Statement) -> bool:
    return statement.has("intent") and any(
        hit.kind == "intent" and hit.first < danger.first and danger.first - hit.last <= _ANNOUNCED
        for hit in statement.cues
    )
