"""What a message says and does: an option, or free words read in the light of their question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

from ai_psychiatrist.domain.interview import AnswerKind, AnswerOption, GivenAnswer
from ai_psychiatrist.domain.interview_items import (
    Act,
    AnswerQuote,
    ProposalSource,
    SpokenAct,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.acts import (
    FoundAct,
    Topic,
    acts_in,
    speaks_of_question,
    without,
)
from ai_psychiatrist.interview.phq8.corrections import (
    named_items,
    topic_at_head,
    withdrawn_items,
)
from ai_psychiatrist.interview.phq8.free_answers import (
    AnswerReading,
    ReadingKind,
    readings_by_item,
)
from ai_psychiatrist.interview.phq8.replies import is_refusal, may_refuse_again, reply_in
from ai_psychiatrist.services.language.concepts import is_instruction

_STOP: Final = re.compile(r"[.!?…;\n]+\s*")
_PAUSES: Final = " \n\t.,;:–—-"
_LONGEST_QUOTE: Final = 120
"""Characters of a message that is quoted whole; of a longer one its sentences are."""
NOTHING = AnswerReading(kind=ReadingKind.NONE)
_ACT_OF: Final = {
    AnswerKind.DECLINE: Act.REFUSAL,
    AnswerKind.CONFIRM: Act.CONFIRMATION,
    AnswerKind.REJECT: Act.DENIAL,
    AnswerKind.ITEM: Act.CORRECTION,
}
_ANY: Final = Item.NO_INTEREST
"""Stands for the item of a question that is about none; it counts only where it is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message, read."""

    turn: int
    text: str = field(repr=False)
    asked: Item | None
    """The item that the question is about; `None` where it is about none."""
    acts: tuple[FoundAct, ...]
    """What it does beside answering."""
    answer: AnswerReading
    """What it says of the item that was asked about."""
    others: Mapping[Item, AnswerReading]
    """What it says of other items, with a score."""
    is_yes: bool
    is_no: bool
    is_refusal: bool
    begins_yes: bool = False
    """Whether it agrees to what was read back, and goes on about other items alone."""
    takes_back: bool = False
    """Whether any word of it speaks against a yes."""
    option: AnswerOption | None = None
    """The option that was chosen, in the place of free words."""
    source: ProposalSource = ProposalSource.RULES

    def does(self, act: Act) -> bool:
        """Return whether it does something beside answering."""
        return any(one.act is act for one in self.acts)

    @property
    def leans_yes(self) -> bool:
        """Whether it says yes to a question that takes yes or no."""
        if self.is_no or self.does(Act.STOP) or self.does(Act.PAUSE):
            return False
        corrections = [one for one in self.acts if one.act is Act.CORRECTION]
        is_said = self.is_yes or self.begins_yes
        return is_said or reply_in(without(self.text, corrections)).leans_yes

    @property
    def topic(self) -> Topic | None:
        """What it asks back, the first thing of several."""
        return next((one.topic for one in self.acts if one.act is Act.QUESTION), None)

    @property
    def withdrawn(self) -> tuple[Item, ...]:
        """The items whose answers it takes back without another in their place."""
        return tuple(one.item for one in self.acts if one.item is not None)

    @property
    def speaks_of_others(self) -> bool:
        """Whether it says something of items that were not asked about."""
        return bool(self.others or self.withdrawn)

    @property
    def has_score(self) -> bool:
        """Whether it says how often, of the item that was asked about."""
        return self.answer.is_read

    @property
    def says_how_often(self) -> bool:
        """Whether it speaks of how often, clearly or not, of any item."""
        is_unclear = self.answer.kind is ReadingKind.UNCLEAR
        return self.answer.is_read or is_unclear or bool(self.others)

    @property
    def says_nothing_yet(self) -> bool:
        """Whether it is a greeting, a sign or the beginning of something, and nothing else."""
        is_said = self.says_how_often or self.is_yes or self.is_no or self.is_refusal
        return bool(self.acts) and not is_said and self.does_nothing_else and not self.withdrawn

    @property
    def does_nothing_else(self) -> bool:
        """Whether no word is left beside its acts."""
        return not any(map(str.isalnum, without(self.text, self.acts)))

    def in_unread_language(self) -> Self:
        """Return the message where its language is not read: what says nothing is unreadable."""
        is_known = self.acts or self.others or self.is_yes or self.is_no or self.is_refusal
        if is_known or self.answer.kind is not ReadingKind.NONE:
            return self
        return replace(self, answer=AnswerReading(kind=ReadingKind.UNREADABLE))

    def spoken_acts(self, *, replies: bool) -> tuple[SpokenAct, ...]:
        """Return what it does, for the record.

        `replies`: whether the question takes yes or no, so that these say nothing of how often.
        """
        if self.option is not None:
            return (self._of_option(self.option),)
        found = [
            SpokenAct(
                turn=self.turn,
                act=one.act,
                start=one.start,
                end=one.end,
                item=one.item or self.asked,
                topic=one.topic,
                source=self.source,
            )
            for one in self.acts
        ]
        is_reply = self.is_yes or self.is_no
        says_something = self.answer.kind is not ReadingKind.NONE and not (is_reply and replies)
        if self.is_refusal:
            found.append(self._whole(Act.REFUSAL))
        elif is_reply and not says_something:
            found.append(self._whole(Act.CONFIRMATION if self.is_yes else Act.DENIAL))
        if self.asked is not None and says_something:
            found.append(self._of(Act.ANSWER, self.asked, self.answer))
        found.extend(self._of(Act.CORRECTION, item, read) for item, read in self.others.items())
        return tuple(sorted(found or [self._whole(Act.OFF_TOPIC)], key=lambda one: one.start))

    def _of_option(self, option: AnswerOption) -> SpokenAct:
        return replace(
            self._whole(_ACT_OF.get(option.kind, Act.ANSWER)),
            item=option.item or self.asked,
            score=option.score if option.kind is AnswerKind.ANCHOR else None,
        )

    def _whole(self, act: Act) -> SpokenAct:
        return SpokenAct(
            turn=self.turn,
            act=act,
            start=0,
            end=len(self.text),
            item=self.asked,
            source=self.source,
        )

    def _of(self, act: Act, item: Item, read: AnswerReading) -> SpokenAct:
        start, end = (read.quote.start, read.quote.end) if read.quote else (0, len(self.text))
        return SpokenAct(
            turn=self.turn,
            act=act,
            start=start,
            end=end,
            item=item,
            score=read.score,
            unclear=read.unclear,
            source=self.source,
        )


def chosen_message(answer: GivenAnswer, asked: Item | None, option: AnswerOption) -> Message:
    """Return the message of an option that was chosen."""
    return Message(
        turn=answer.turn,
        text=answer.text,
        asked=asked,
        acts=(),
        answer=NOTHING,
        others={},
        is_yes=option.kind is AnswerKind.CONFIRM,
        is_no=option.kind is AnswerKind.REJECT,
        is_refusal=option.kind is AnswerKind.DECLINE,
        option=option,
    )


def read_message(
    answer: GivenAnswer,
    asked: Item | None,
    *,
    answered: Sequence[Item] = (),
    was_declined: bool = False,
    is_to_read_back: bool = False,
) -> Message:
    """Read a free message; deterministic, for any text.

    `answered`: the items whose answers it may take back, the one answered last at the end.
    `was_declined`: whether the item was refused before; then a bare "no" is a refusal again.
    `is_to_read_back`: whether it replies to what was read back; then a "no" at its head speaks of
    that, as a "yes" does, and what follows it is the answer. Of a message that tells a reader what
    to put down nothing is read.
    """
    text = answer.text
    acts = tuple(_about_item(one, text, asked) for one in _acts(text, asked, answered))
    rest = without(text, acts)
    reply = reply_in(rest)
    if is_to_read_back:
        rest = " " * reply.head_end + rest[reply.head_end :]
    is_to_be_read = bool(rest.strip()) and not is_instruction(text)
    read = readings_by_item(asked or _ANY, rest) if is_to_be_read else {}
    about = topic_at_head(rest) if is_to_be_read else None
    if about is not None and about[0] is not asked:
        after = " " * about[1] + rest[about[1] :]
        read_of = readings_by_item(about[0], after)
        if read_of[about[0]].is_read:
            read, rest = read_of, after
    readings = {item: _as_typed(one, text) for item, one in read.items()}
    said_of = [item for item, one in readings.items() if one.kind is not ReadingKind.NONE]
    if len(said_of) == 1:
        readings[said_of[0]] = _with_sentences(readings[said_of[0]], text, rest)
    own = readings.pop(asked, NOTHING) if asked is not None else NOTHING
    if asked is None and not named_items(text, [_ANY]):
        readings.pop(_ANY, None)
    said = (reply_in(text), reply)
    is_again = was_declined and may_refuse_again(text)
    if is_again:
        own = NOTHING
    others = {item: one for item, one in readings.items() if one.is_read}
    is_of_others = bool(others) or any(one.item is not None for one in acts)
    is_own = own.kind is not ReadingKind.NONE or bool(asked and named_items(rest, [asked]))
    return Message(
        turn=answer.turn,
        text=text,
        asked=asked,
        acts=acts,
        answer=own,
        others=others,
        is_yes=any(one.is_yes for one in said),
        is_no=any(one.is_no for one in said),
        is_refusal=is_again or (not own.is_read and not own.found and is_refusal(rest)),
        begins_yes=is_to_read_back and reply.begins_yes and is_of_others and not is_own,
        takes_back=reply.takes_back,
    )


def _acts(text: str, asked: Item | None, answered: Sequence[Item]) -> tuple[FoundAct, ...]:
    withdrawn = () if asked is None else withdrawn_items(asked, text, answered)
    corrections = [
        FoundAct(act=Act.CORRECTION, start=one.start, end=one.end, item=one.item)
        for one in withdrawn
    ]
    others = (
        one
        for one in acts_in(text)
        if not _is_answer(one, text, asked)
        # "Can I change my answer about sleep?" asks nothing back.
        and not any(one.start < other.end and other.start < one.end for other in corrections)
    )
    return (*corrections, *others)


def _is_answer(act: FoundAct, text: str, asked: Item | None) -> bool:
    """Whether what looks like another act is an answer all the same: "three days?"."""
    is_question = act.act is Act.QUESTION and act.topic in {Topic.MEANING, Topic.OTHER}
    if asked is None or not (is_question or act.act is Act.PAUSE):
        return False
    words = text[act.start : act.end].rstrip("? ")
    if is_question and is_refusal(words):
        # "Can we skip this one?"
        return True
    return any(one.is_read for one in readings_by_item(asked, words).values())


def _about_item(act: FoundAct, text: str, asked: Item | None) -> FoundAct:
    """Return a question back as one about what is asked where it names that: "even short naps?"."""
    words = text[act.start : act.end]
    if act.topic is not Topic.OTHER or asked is None:
        return act
    is_about = speaks_of_question(words) or bool(named_items(words, [asked]))
    return replace(act, topic=Topic.MEANING) if is_about else act


def _as_typed(read: AnswerReading, text: str) -> AnswerReading:
    """Return a reading whose quotes are cut from the message as it was typed."""
    quote = read.quote and _cut(read.quote, text)
    # "Nearly every day?" is not said for certain: it is read back.
    is_asked = quote is not None and text[quote.end :].lstrip().startswith("?")
    is_unsure = is_asked and read.kind is ReadingKind.ANCHOR
    return replace(
        read,
        kind=ReadingKind.READ if is_unsure else read.kind,
        quote=quote,
        found=tuple(_cut(one, text) for one in read.found),
    )


def _with_sentences(read: AnswerReading, text: str, rest: str) -> AnswerReading:
    """Return a reading that quotes all of a short message, else the sentences that carry it.

    `rest`: the message with spaces in the place of what is no answer.
    """
    quote = read.quote
    if read.score is None or quote is None:
        return read
    start, end = len(rest) - len(rest.lstrip(_PAUSES)), len(rest)
    if end - start > _LONGEST_QUOTE:
        stops = list(_STOP.finditer(rest))
        start = max((one.end() for one in stops if one.end() <= quote.start), default=start)
        end = min((one.start() for one in stops if one.start() >= quote.end), default=end)
    if end - start > 2 * _LONGEST_QUOTE:
        return read
    end = start + len(rest[start:end].rstrip(_PAUSES))
    return replace(read, quote=_cut(replace(quote, start=start, end=end), text))


def _cut(quote: AnswerQuote, text: str) -> AnswerQuote:
    return replace(quote, text=text[quote.start : quote.end])
