"""Whether a danger is affirmed, denied, past, hypothetical, or another person's.

What governs the words is read as for any other concept; here it is only weighed for a danger:
what cannot be told is taken as said.
"""

import re
from typing import Final

from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.services.language.concepts import Status
from ai_psychiatrist.services.language.experiencer import is_reported, last_person, may_be_own
from ai_psychiatrist.services.language.negation import is_negated
from ai_psychiatrist.services.language.vocabulary import words
from ai_psychiatrist.services.risk.answers import DangerReply, reply_in
from ai_psychiatrist.services.risk.statement import (
    DangerPhrase,
    Statement,
    danger_words,
    is_of_speaker,
    match_replies,
)

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
_ANSWERED: Final = {
    DangerReply.YES: RiskPolarity.AFFIRMED,
    DangerReply.NO: RiskPolarity.DENIED,
    DangerReply.OVER: RiskPolarity.PAST,
}


def polarity_of_danger(
    danger: DangerPhrase,
    statement: Statement,
    *,
    before: Statement | None,
    after: Statement | None,
    is_past: bool,
) -> RiskPolarity:
    """Return the polarity of a danger; an undecided one counts as affirmed.

    `before`, `after`: the clauses around it, `None` at the edges of a turn. `is_past`: whether the
    danger stands in a time that is over.
    """
    if danger.is_of_others:
        return RiskPolarity.QUOTED
    if before is not None and _SENTENCE_END.search(before.text):
        before = None
    if (
        statement.has("echo", "speech", before=danger)
        or (before is not None and before.has("speech"))
        or _is_in_marks(danger, statement)
        or _is_framed(danger, statement, before)
        or _is_of_others(danger, statement, after)
    ):
        return _answered(statement, after) or RiskPolarity.QUOTED
    if _is_negated(danger, statement):
        is_over = statement.has("over", "closed", after=danger)
        return RiskPolarity.PAST if is_over else RiskPolarity.DENIED
    # "I cut myself, same as last year" is no thing of the past.
    is_compared = any(map(_compares, (before, statement, after)))
    if not is_compared and _is_historical(danger, statement, after, is_past=is_past):
        return RiskPolarity.PAST
    if _is_hypothetical(danger, statement, before):
        return RiskPolarity.HYPOTHETICAL
    return RiskPolarity.AFFIRMED


def _compares(statement: Statement | None) -> bool:
    """Whether a clause only likens what is now to what was."""
    return statement is not None and (
        statement.has("compared") or any(match_replies(statement.text).among("likened"))
    )


def _answered(statement: Statement, after: Statement | None) -> RiskPolarity | None:
    """Read what a participant who repeats a question then answers."""
    if statement.has("affirming") or (after is not None and after.has("affirming")):
        return RiskPolarity.AFFIRMED
    if after is None or not statement.is_question:
        return None
    return _ANSWERED.get(reply_in(after))


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


def _is_framed(danger: DangerPhrase, statement: Statement, before: Statement | None) -> bool:
    """Whether it is talk of patients, of a film, or of what is taught, and not the speaker's."""
    if statement.has("frame_speech", before=danger) or (
        before is not None and before.has("frame_speech")
    ):
        return True
    matched, hit = statement.said, statement.place(danger)
    near = matched.texts[max(0, hit.first - _SUBJECT_WITHIN) : hit.first]
    if danger.is_own or _has_subject(near):
        return False
    is_of_two = danger.kind in {RiskKind.HARM_TO_OTHERS, RiskKind.ABUSE_BY_OTHERS}
    return any(
        cue.last < danger.first or (cue.first > danger.last and not is_of_two)
        for cue in statement.cues
        if cue.kind == "frame" and not _has_subject(statement.texts[cue.last + 1 : danger.first])
    )


def _has_subject(texts: tuple[str, ...]) -> bool:
    return not words("self_subjects").isdisjoint(texts)


def _is_of_others(danger: DangerPhrase, statement: Statement, after: Statement | None) -> bool:
    """Return whether the experiencer is another person, or the person asked."""
    if statement.is_question and danger.level is RiskLevel.HIGH:
        return statement.has("echo") or not (danger.is_own or is_of_speaker(statement.texts))
    longest = max(one.last - one.first + 1 for one in statement.dangers)
    is_nothing_else = len(statement.texts) <= longest + 1
    # "Suicidal. Is that what you said?"
    if is_nothing_else and after and after.has("echo") and "you" in after.texts:
        return True
    matched, hit = statement.said, statement.place(danger)
    is_named = not words("self_named").isdisjoint(matched.texts)
    if danger.kind is RiskKind.BURDEN_AND_DESPAIR:
        # "He says there's no way out for him."
        return not is_named and not danger.is_own and is_reported(matched, hit)
    if danger.kind in _WITH_OTHERS or danger.is_own or (is_named and may_be_own(matched, hit)):
        return False
    if danger.is_joined and is_of_speaker(statement.texts):
        # "My dad's rifle is upstairs" is at hand all the same.
        return False
    company = statement.covered("company")
    before = (word for at, word in enumerate(matched.texts[: hit.first]) if at not in company)
    return is_reported(matched, hit) or last_person(tuple(before)) is Status.OTHER


def _is_negated(danger: DangerPhrase, statement: Statement) -> bool:
    inside = danger_words("inner_negators").intersection(danger.texts[1:3])
    if inside and danger.kind is RiskKind.ABUSE_BY_OTHERS:
        return True
    if statement.has("until_now", after=danger):
        return False
    matched, hit = statement.said, statement.place(danger)
    return is_negated(matched, hit, statement.covered("not_denied")) or any(
        cue.kind == "denied_after"
        and 0 < cue.first - danger.last <= _AFTER
        and danger_words("turning").isdisjoint(statement.texts[danger.last + 1 : cue.first])
        and not statement.has("so_far")
        for cue in statement.cues
    )


def _is_historical(
    danger: DangerPhrase, statement: Statement, after: Statement | None, *, is_past: bool
) -> bool:
    is_ended = any(
        hit.kind == "ended" and 0 <= danger.first - hit.first <= _ENDED for hit in statement.cues
    )
    if is_ended or _opens_with("over", after):
        return True
    if danger.kind is RiskKind.SELF_INJURY and any(
        hit.kind == "closed" and hit.last > danger.last for hit in statement.cues
    ):
        # "The scars are old."
        return True
    is_past = is_past or (statement.has("past") and not statement.has("recent"))
    # "I want to die, as I did when I was young" is no thing of the past.
    return statement.has_past_verb(danger) and (
        (is_past and not statement.has("until_now", after=danger))
        or statement.has("closed", after=danger)
        or _opens_with("closed", after)
    )


def _opens_with(cue: str, after: Statement | None) -> bool:
    """Whether the next clause says that it is over: "but not anymore", "that was years ago"."""
    return (
        after is not None
        and not after.dangers
        and any(hit.kind == cue and hit.first <= 3 and hit.last > hit.first for hit in after.cues)
    )


def _is_hypothetical(danger: DangerPhrase, statement: Statement, before: Statement | None) -> bool:
    is_announced = any(
        hit.kind == "intent" and hit.first < danger.first and danger.first - hit.last <= _ANNOUNCED
        for hit in statement.cues
    )
    if is_announced or statement.has("indicative"):
        return False
    if statement.has("hypothetical", before=danger):
        return True
    return before is not None and before.has("hypothetical") and not before.has("indicative")
