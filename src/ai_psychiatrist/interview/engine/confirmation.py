"""What a model takes an unclear answer for: it counts once the person has confirmed it."""

from dataclasses import replace

from ai_psychiatrist.domain.interview import AnswerKind, GivenAnswer
from ai_psychiatrist.domain.interview_items import Proposal, ProposalOutcome, UnansweredReason
from ai_psychiatrist.interview.engine.correction import correction_in
from ai_psychiatrist.interview.engine.turns import Offered, Wording
from ai_psychiatrist.interview.engine.words import words_read
from ai_psychiatrist.interview.phq8.free_answers import is_agreement
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import AnswerPolicy
from ai_psychiatrist.interview.record import Interview, ItemReading


def is_for_model(policy: AnswerPolicy, interview: Interview) -> bool:
    """Return whether the stored answer is one that the rules leave open and a model may read.

    That is a free answer that speaks to its question, for an item of which no model was asked yet.
    """
    question, answer = interview.question, interview.answer
    if policy.confirmation is None or question is None or answer is None:
        return False
    if interview.open_correction is not None or correction_in(interview) is not None:
        return False
    item = interview.goal(question.goal_id).item
    if item is None or answer.option_id is not None or interview.proposal_for(item) is not None:
        return False
    read = words_read(item, answer.text, was_declined=interview.was_declined(item))
    return read.reason is UnansweredReason.AMBIGUOUS_ANSWER


def anchors_of(policy: AnswerPolicy) -> tuple[Offered, ...]:
    """Return the frequencies as they are offered."""
    return tuple(Offered(one.text, AnswerKind.ANCHOR, one.score) for one in policy.anchors)


def confirming_wording(policy: AnswerPolicy, proposal: Proposal) -> Wording | None:
    """Return how a person is asked whether a proposal is right."""
    confirmation = policy.confirmation
    if confirmation is None:
        return None
    proposed = next(one for one in policy.anchors if one.score == proposal.score)
    others = (one for one in anchors_of(policy) if one.text != proposed.text)
    return Wording(
        text=filled(confirmation.question, {"anchor": proposed.text}),
        is_clarifying=True,
        offered=(
            Offered(confirmation.agree, AnswerKind.CONFIRM, proposed.score),
            Offered(confirmation.disagree, AnswerKind.REJECT),
            *others,
        ),
    )


def reading_of_reply(proposal: Proposal, answer: GivenAnswer, by_rules: ItemReading) -> ItemReading:
    """Return what a reply in free words to a confirming question says.

    `by_rules`: what it says as an answer to the item's own question. A bare "no", or "not at all",
    may deny what was proposed, so no zero is taken from it.
    """
    if is_agreement(answer.text):
        return confirmed(proposal, answer.turn)
    if by_rules.score or by_rules.reason is UnansweredReason.DECLINED:
        return by_rules
    return replace(by_rules, score=None, quote=None, reason=UnansweredReason.AMBIGUOUS_ANSWER)


def confirmed(proposal: Proposal, turn: int) -> ItemReading:
    """Return the reading of an answer whose proposal was confirmed in a later turn."""
    return ItemReading(
        item=proposal.item,
        turn=proposal.turn,
        score=proposal.score,
        reason=None,
        quote=proposal.quote,
        confirmed_turn=turn,
    )


def settled(interview: Interview, reading: ItemReading) -> tuple[Proposal, ...]:
    """Return the proposals after the answer to a confirming question."""
    *before, last = interview.proposals
    is_right = reading.score == last.score
    outcome = ProposalOutcome.CONFIRMED if is_right else ProposalOutcome.NOT_CONFIRMED
    return (*before, replace(last, outcome=outcome, settled_turn=interview.turn))
