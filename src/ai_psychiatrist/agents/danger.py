"""The danger agent: reads for danger alone, beside the rules, and only adds to what they find."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, groupby
from types import NoneType
from typing import Final, TypeAlias

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.agents.definition import DANGER
from ai_psychiatrist.agents.model_agent import ModelAgent
from ai_psychiatrist.agents.output_models import (
    DangerOutput,
    DangerSign,
    PartialDanger,
)
from ai_psychiatrist.agents.pydantic_agents import create_danger_agent
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
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.infrastructure.failure_log import record_failure
from ai_psychiatrist.llm.replies import OnKept, PartialOutput
from ai_psychiatrist.llm.runner import AgentRunner
from ai_psychiatrist.services.evidence_validation import log_grounding
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex

Found: TypeAlias = Mapping[str, Quote | UnverifiedQuote]

_HEARD_AS: Final = {
    Speaker.OTHER: Speaker.PARTICIPANT,
    Speaker.UNKNOWN: Speaker.PARTICIPANT,
    Speaker.PARTICIPANT: Speaker.INTERVIEWER,
    Speaker.INTERVIEWER: Speaker.INTERVIEWER,
}
"""How a transcript is looked through for words of others, which are no evidence but alarm."""


class DangerAgent(ModelAgent[None]):
    """Finds signs of danger; only words that were said, and not by the interviewer, count."""

    default_settings = NoneType

    @cached_property
    def _reader(self) -> AgentRunner[DangerOutput]:
        return self._runner(DANGER, create_danger_agent)

    @property
    def most_calls(self) -> int:
        """How many calls a reading may cost."""
        return self._reader.most_calls

    async def read(self, case: Case, *, on_kept: OnKept | None = None) -> ModelReading:
        """Return the signs, or why there are none to be had; never raises for what a model does.

        `on_kept`: gets those of refused replies; `reading_in_part` reads them where the reading is
        broken off.
        """
        prompt = case.prompt(case.tasks[DANGER.name])
        outcome = await self._reader.run(prompt, case.calls, on_kept=on_kept)
        kept = outcome.kept if isinstance(outcome.kept, PartialDanger) else None
        if outcome.output is None and kept is None:
            return ModelReading(status=ReadingStatus.FAILED, code=outcome.failure)
        return await _reading(case, outcome.output, kept)


async def reading_in_part(
    case: Case, kept: PartialOutput | None, code: FailureCode
) -> ModelReading:
    """Return the signs of refused replies, where the reading was broken off for a reason."""
    if not isinstance(kept, PartialDanger):
        return ModelReading(status=ReadingStatus.FAILED, code=code)
    return await _reading(case, None, kept)


async def _reading(
    case: Case, accepted: DangerOutput | None, kept: PartialDanger | None
) -> ModelReading:
    """Ground the signs of an accepted reply, and those that only refused ones hold.

    What a model says again of the same words takes the place of what it said before.
    """
    whole = () if accepted is None else accepted.signs
    said = {sign.quote for sign in whole}
    earlier = [one for one in (kept.signs if kept else ()) if one.sign.quote not in said]
    signs = (*whole, *(one.sign for one in earlier))
    found = await _found(case, tuple(dict.fromkeys(sign.quote for sign in signs)))
    refused = [sign for sign in signs if isinstance(found[sign.quote], UnverifiedQuote)]
    _account(case, found, given=len(signs), refused=len(refused))
    signals = [signal for sign in whole for signal in _signals(sign, found)]
    added = {
        signal: bool(one.unread)
        for one in earlier
        for signal in _signals(one.sign, found)
        if not any(_shares_words(signal, other) for other in signals)
    }
    if accepted is not None and added:
        _record_earlier(case, len(added))
    return ModelReading(
        status=ReadingStatus.ANSWERED,
        signals=_in_order(chain(signals, added)),
        refused_count=len(refused),
        completed_count=sum(added.values()),
    )


def _shares_words(one: RiskSignal, other: RiskSignal) -> bool:
    return one.start < other.end and other.start < one.end


async def _found(case: Case, quotes: Sequence[str]) -> Found:
    """Look quotes up in the participant's words, and then in those of others and nobody known."""
    found = await _looked_up(case, quotes)
    missing = [quote for quote in quotes if isinstance(found[quote], UnverifiedQuote)]
    turns = case.transcript.turns
    if not missing or all(_HEARD_AS[turn.speaker] is not Speaker.PARTICIPANT for turn in turns):
        return found
    elsewhere = await _looked_up(_hearing_others(case), missing)
    return {**found, **{quote: one for quote, one in elsewhere.items() if _is_in_one_turn(one)}}


async def _looked_up(case: Case, quotes: Sequence[str]) -> dict[str, Quote | UnverifiedQuote]:
    await case.look_up(quotes)
    return {quote: case.index.ground(quote) for quote in quotes}


def _hearing_others(case: Case) -> Case:
    transcript = case.transcript
    heard: Transcript = replace(
        transcript,
        turns=tuple(replace(turn, speaker=_HEARD_AS[turn.speaker]) for turn in transcript.turns),
    )
    return replace(case, transcript=heard, index=TranscriptIndex(heard))


def _is_in_one_turn(found: Quote | UnverifiedQuote) -> bool:
    return isinstance(found, Quote) and len({part.turn for part in found.segments}) == 1


def _signals(sign: DangerSign, found: Found) -> Iterator[RiskSignal]:
    """Yield a signal for each turn that the quote of a sign runs over."""
    quote = found[sign.quote]
    if isinstance(quote, UnverifiedQuote):
        return
    for turn, segments in groupby(quote.segments, key=lambda part: part.turn):
        parts = list(segments)
        yield RiskSignal(
            kind=sign.kind,
            polarity=sign.polarity,
            level=RiskLevel.NONE if sign.polarity is RiskPolarity.DENIED else sign.level,
            turn=turn,
            start=parts[0].start,
            end=parts[-1].end,
            source=RiskSource.MODEL,
        )


def _in_order(signals: Iterable[RiskSignal]) -> tuple[RiskSignal, ...]:
    return tuple(sorted(dict.fromkeys(signals), key=lambda one: (one.start, one.end)))


def _account(case: Case, found: Found, *, given: int, refused: int) -> None:
    """Log the quotes that nobody said, and record that there are no others."""
    rejected = tuple(one for one in found.values() if isinstance(one, UnverifiedQuote))
    accepted = tuple(one for one in found.values() if isinstance(one, Quote))
    report = GroundingReport(accepted={DANGER.name: accepted}, rejected={DANGER.name: rejected})
    log_grounding(report, case.transcript.text, mode="substring")
    if refused and refused == given:
        record_failure(
            FailureCategory.EVIDENCE_HALLUCINATION,
            FailureSeverity.WARNING,
            "The model gave signs of danger, but none in words that were said.",
            participant_id=case.participant_id,
            stage=DANGER.name,
            code=FailureCode.UNGROUNDED_EVIDENCE,
            extracted_count=given,
        )


def _record_earlier(case: Case, count: int) -> None:
    record_failure(
        FailureCategory.PARTIAL_REPLY,
        FailureSeverity.WARNING,
        "Signs of danger of a reply that was refused stand beside those of the accepted one.",
        participant_id=case.participant_id,
        stage=DANGER.name,
        code=FailureCode.OUTPUT_REJECTED,
        count=count,
    )
