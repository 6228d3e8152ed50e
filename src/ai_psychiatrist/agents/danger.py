"""The danger agent: reads for danger alone and only adds to what the rules find."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from types import NoneType
from typing import Final, TypeAlias

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.output_models import DangerOutput, DangerSign, PartialDanger
from ai_psychiatrist.agents.pydantic_agents import DANGER, ModelAgent
from ai_psychiatrist.domain.evidence import GroundingReport, Quote, UnverifiedQuote
from ai_psychiatrist.domain.failures import FailureCategory, FailureCode, FailureSeverity
from ai_psychiatrist.domain.risk import (
    ModelReading,
    ReadingStatus,
    RiskLevel,
    RiskPolarity,
    RiskSignal,
    RiskSource,
)
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.infrastructure.logging import record_failure
from ai_psychiatrist.llm.replies import OnKept, PartialOutput
from ai_psychiatrist.llm.runner import AgentRunner
from ai_psychiatrist.services.evidence_validation import log_grounding
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex

Found: TypeAlias = Mapping[str, Quote | UnverifiedQuote]

_SEARCHED_AS: Final = {
    Speaker.OTHER: Speaker.PARTICIPANT,
    Speaker.UNKNOWN: Speaker.PARTICIPANT,
    Speaker.PARTICIPANT: Speaker.INTERVIEWER,
    Speaker.INTERVIEWER: Speaker.INTERVIEWER,
}
"""How a transcript is searched for words of others, which are no evidence but alarm."""


class DangerAgent(ModelAgent[None]):
    """Finds risk statements; only words that were said, and not by the interviewer, count."""

    default_settings = NoneType

    @cached_property
    def _reader(self) -> AgentRunner[DangerOutput]:
        return self._runner(DANGER)

    @property
    def most_calls(self) -> int:
        """How many calls a reading may cost."""
        return self._reader.most_calls

    async def read(
        self, context: AssessmentContext, *, on_kept: OnKept | None = None
    ) -> ModelReading:
        """Return the statements, or why there are none; never raises for what a model does.

        `on_kept`: gets those of refused replies; `reading_in_part` reads them where the reading is
        broken off.
        """
        prompt = context.prompt(context.tasks[DANGER.name])
        outcome = await self._reader.run(prompt, context.calls, on_kept=on_kept)
        return await reading_in_part(
            context, outcome.kept, outcome.failure, accepted=outcome.output
        )


async def reading_in_part(
    context: AssessmentContext,
    kept: PartialOutput | None,
    code: FailureCode | None,
    *,
    accepted: DangerOutput | None = None,
) -> ModelReading:
    """Ground the statements of an accepted reply, and those that only refused ones hold.

    What a model says again of the same words takes the place of what it said before. `code`: why
    no reply was accepted.
    """
    kept = kept if isinstance(kept, PartialDanger) else None
    if accepted is None and kept is None:
        return ModelReading(status=ReadingStatus.FAILED, code=code)
    whole = () if accepted is None else accepted.signs
    said = {sign.quote for sign in whole}
    earlier = [one for one in (kept.signs if kept else ()) if one.sign.quote not in said]
    signs = (*whole, *(one.sign for one in earlier))
    found = await _found(context, tuple(dict.fromkeys(sign.quote for sign in signs)))
    refused = sum(isinstance(found[sign.quote], UnverifiedQuote) for sign in signs)
    _log(context, found)
    if signs and refused == len(signs):
        record_failure(
            FailureCategory.EVIDENCE_HALLUCINATION,
            FailureSeverity.WARNING,
            "The model gave signs of danger, but none in words that were said.",
            participant_id=context.participant_id,
            stage=DANGER.name,
            code=FailureCode.UNGROUNDED_EVIDENCE,
            extracted_count=len(signs),
        )
    signals = [signal for sign in whole for signal in _signals(sign, found)]
    added = {
        signal: bool(one.unread)
        for one in earlier
        for signal in _signals(one.sign, found)
        if not any(signal.start < other.end and other.start < signal.end for other in signals)
    }
    if accepted is not None and added:
        record_failure(
            FailureCategory.PARTIAL_REPLY,
            FailureSeverity.WARNING,
            "Signs of danger of a reply that was refused stand beside those of the accepted one.",
            participant_id=context.participant_id,
            stage=DANGER.name,
            code=FailureCode.OUTPUT_REJECTED,
            count=len(added),
        )
    distinct = dict.fromkeys((*signals, *added))
    return ModelReading(
        status=ReadingStatus.ANSWERED,
        signals=tuple(sorted(distinct, key=lambda one: (one.start, one.end))),
        sign_count=len(distinct),
        refused_count=refused,
        completed_count=sum(added.values()),
    )


async def _found(context: AssessmentContext, quotes: Sequence[str]) -> Found:
    """Look quotes up in the participant's words, then in those of others and unknown speakers."""
    found = await _looked_up(context, quotes)
    missing = [quote for quote in quotes if isinstance(found[quote], UnverifiedQuote)]
    turns = context.transcript.turns
    if not missing or all(_SEARCHED_AS[turn.speaker] is Speaker.INTERVIEWER for turn in turns):
        return found
    of_others = replace(
        context.transcript,
        turns=tuple(replace(turn, speaker=_SEARCHED_AS[turn.speaker]) for turn in turns),
    )
    others = replace(context, transcript=of_others, index=TranscriptIndex(of_others))
    elsewhere = await _looked_up(others, missing)
    return {**found, **{quote: one for quote, one in elsewhere.items() if _is_in_one_turn(one)}}


async def _looked_up(context: AssessmentContext, quotes: Sequence[str]) -> Found:
    await context.look_up(quotes)
    return {quote: context.index.ground(quote) for quote in quotes}


def _is_in_one_turn(found: Quote | UnverifiedQuote) -> bool:
    return isinstance(found, Quote) and len({part.turn for part in found.segments}) == 1


def _signals(sign: DangerSign, found: Found) -> Iterator[RiskSignal]:
    """Yield a signal for each turn that the quote of a statement runs over."""
    quote = found[sign.quote]
    segments = quote.segments if isinstance(quote, Quote) else ()
    for turn, of_turn in groupby(segments, key=lambda part: part.turn):
        parts = list(of_turn)
        yield RiskSignal(
            kind=sign.kind,
            polarity=sign.polarity,
            level=RiskLevel.NONE if sign.polarity is RiskPolarity.DENIED else sign.level,
            turn=turn,
            start=parts[0].start,
            end=parts[-1].end,
            source=RiskSource.MODEL,
        )


def _log(context: AssessmentContext, found: Found) -> None:
    rejected = tuple(one for one in found.values() if isinstance(one, UnverifiedQuote))
    accepted = tuple(one for one in found.values() if isinstance(one, Quote))
    report = GroundingReport(accepted={DANGER.name: accepted}, rejected={DANGER.name: rejected})
    log_grounding(report, context.transcript.text, mode="substring")
