"""Put an assessment into the form that callers get."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.prompts.tasks import PROMPT_DIGESTS, PROMPT_DIGESTS_TOGETHER
from ai_psychiatrist.agents.pydantic_agents import BELIEF_AGENTS, JUDGES
from ai_psychiatrist.domain.assessment import Assessment, Metric, Narrative
from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome
from ai_psychiatrist.domain.reader import ReaderStatus
from ai_psychiatrist.domain.risk import ReadingStatus, RiskReport, RiskSignal, RiskSource
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.results.account_result import AgentModels
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.models import (
    BASELINE_NOTICE,
    NOTICE,
    Envelope,
    EvaluationPart,
    QualitativePart,
    QualitativeResult,
    QuantitativePart,
    QuantitativeResult,
)
from ai_psychiatrist.results.risk import examined_result, risk_model
from ai_psychiatrist.results.risk_result import (
    RISK_STATEMENT,
    RISK_STATEMENT_WITH_ALL,
    RISK_STATEMENT_WITH_MODEL,
    RISK_STATEMENT_WITH_READER,
    PassageResult,
    RiskReaderResult,
    RiskResult,
    RiskSignalResult,
)
from ai_psychiatrist.results.transcript_result import NoteResult, SpeakerResult, TranscriptResult
from ai_psychiatrist.services.risk.context import context_of

_GROUP_OF_AGENT: Final = {
    "qualitative": "qualitative",
    "evidence": "quantitative",
    "quantitative": "quantitative",
    "ablation": "quantitative",
    "meta_review": "meta_review",
    "danger": "danger",
    **{name: name for name in BELIEF_AGENTS},
    JUDGES.name: "judge",
    **{f"judge_{metric.value}": "judge" for metric in Metric},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a result says beyond the assessment itself."""

    assessment_id: str
    chains: Mapping[str, tuple[str, ...]]
    """Agent → the models it may ask."""
    crisis_resources: str


def full_result(assessment: Assessment, *, about: About) -> FullResult:
    """Return a whole assessment."""
    narrative = assessment.narrative
    return FullResult(
        **dict(_envelope(assessment, about)),
        quantitative=assessment.quantitative,
        qualitative=None if narrative is None else narrative.best.findings,
        evaluation=None if narrative is None else _evaluation(narrative),
        meta_review=assessment.meta_review,
    )


def quantitative_result(assessment: Assessment, *, about: About) -> QuantitativeResult:
    """Return the item scores of an assessment."""
    scores = assessment.quantitative
    part = QuantitativePart() if scores is None else QuantitativePart.model_validate(scores)
    return QuantitativeResult(**dict(_envelope(assessment, about)), **dict(part))


def qualitative_result(assessment: Assessment, *, about: About) -> QualitativeResult:
    """Return the narrative of an assessment."""
    findings = None if assessment.narrative is None else assessment.narrative.best.findings
    part = QualitativePart() if findings is None else QualitativePart.model_validate(findings)
    return QualitativeResult(**dict(_envelope(assessment, about)), **dict(part))


def _envelope(assessment: Assessment, about: About) -> Envelope:
    models = _models(assessment.attempts, about.chains)
    has_baseline = any(model.rule_baseline for model in models.values())
    return Envelope(
        assessment_id=about.assessment_id,
        status=assessment.status,
        risk=risk_result(assessment, crisis_resources=about.crisis_resources),
        notice=f"{NOTICE} {BASELINE_NOTICE}" if has_baseline else NOTICE,
        participant_id=assessment.participant_id,
        mode=assessment.mode.value,
        speakers_assumed=assessment.transcript.speakers_assumed,
        transcript=_transcript(assessment.transcript),
        models=models,
        prompts=_prompts(assessment),
        references=assessment.references,
        grounding=assessment.quantitative,
        hosts=assessment.hosts,
        attempts=assessment.attempts,
        failures=assessment.failures,
        transcript_text=assessment.transcript.text if _is_made(assessment) else None,
    )


def _is_made(assessment: Assessment) -> bool:
    return assessment.transcript.source.is_rendered or assessment.participant_id is not None


def _transcript(transcript: Transcript) -> TranscriptResult:
    turns = Counter((turn.label, turn.speaker) for turn in transcript.turns)
    source = transcript.source
    seconds = tuple(turn.start_seconds for turn in transcript.turns)
    return TranscriptResult(
        form=source.form,
        encoding=source.encoding,
        turns=len(transcript.turns),
        turn_seconds=() if set(seconds) == {None} else seconds,
        speakers=tuple(
            SpeakerResult(label=label, role=role, turns=count)
            for (label, role), count in turns.items()
        ),
        notes=tuple(map(NoteResult.model_validate, source.notes)),
    )


def risk_result(assessment: Assessment, *, crisis_resources: str) -> RiskResult:
    """Return the signs of danger in an assessment's transcript, with their words."""
    return risk_result_of(assessment.transcript, assessment.risk, crisis_resources=crisis_resources)


def risk_result_of(
    transcript: Transcript, risk: RiskReport, *, crisis_resources: str
) -> RiskResult:
    """Return the signs of danger in a transcript, with their words."""
    return RiskResult(
        level=risk.level,
        signals=tuple(_signal(transcript, one) for one in risk.signals),
        signal_count=risk.signal_count,
        examined=examined_result(risk.examined),
        model=risk_model(risk.model),
        reader=_reader(transcript, risk),
        statement=_STATEMENTS[
            risk.reader.status is ReaderStatus.ANSWERED, risk.model.status is ReadingStatus.ANSWERED
        ],
        resources=crisis_resources,
    )


_STATEMENTS: Final = {
    (False, False): RISK_STATEMENT,
    (False, True): RISK_STATEMENT_WITH_MODEL,
    (True, False): RISK_STATEMENT_WITH_READER,
    (True, True): RISK_STATEMENT_WITH_ALL,
}
"""By whether the learned reader and a model took part."""


def _reader(transcript: Transcript, risk: RiskReport) -> RiskReaderResult:
    state = risk.reader
    return RiskReaderResult(
        status=state.status,
        digest=state.digest,
        sign_count=sum(signal.source is RiskSource.READER for signal in risk.signals),
        unshared_count=sum(not signal.is_shared for signal in risk.signals),
        read_first=tuple(
            PassageResult(text=transcript.text[one.start : one.end], **asdict(one))
            for one in state.read_first
        ),
    )


def _signal(transcript: Transcript, signal: RiskSignal) -> RiskSignalResult:
    context = context_of(transcript, signal)
    return RiskSignalResult(
        group=signal.group,
        category=signal.category,
        text=transcript.text[signal.start : signal.end],
        sentence=context.sentence,
        question=context.question,
        question_turn=context.question_turn,
        **asdict(signal),
    )


def _models(
    attempts: tuple[Attempt, ...], chains: Mapping[str, tuple[str, ...]]
) -> dict[str, AgentModels]:
    answered: dict[str, dict[str, None]] = {agent: {} for agent in chains}
    for attempt in attempts:
        if attempt.outcome is AttemptOutcome.ACCEPTED:
            answered[_GROUP_OF_AGENT[attempt.agent]][attempt.model] = None
    return {
        agent: AgentModels(
            chain=chain,
            answered_by=tuple(answered[agent]),
            rule_baseline=BASELINE in answered[agent],
        )
        for agent, chain in chains.items()
    }


def _evaluation(narrative: Narrative) -> EvaluationPart:
    best = narrative.best
    return EvaluationPart(
        **{metric.value: best.scores.get(metric) for metric in Metric},
        average_score=best.average,
        iteration=best.round,
        rounds=narrative.rounds,
    )


def _prompts(assessment: Assessment) -> Mapping[str, str]:
    is_judged_together = any(one.agent == JUDGES.name for one in assessment.attempts)
    digests = PROMPT_DIGESTS_TOGETHER if is_judged_together else PROMPT_DIGESTS
    return digests[assessment.mode]
