"""The quantitative agent: quotes for each item, checked, and then a score that stands on them."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from ai_psychiatrist.agents.case import Case, open_case
from ai_psychiatrist.agents.contracts.item_check import ItemFinding, check_item
from ai_psychiatrist.agents.definition import EVIDENCE, QUANTITATIVE
from ai_psychiatrist.agents.output_models import ItemScoreOutput, QuantitativeOutput
from ai_psychiatrist.agents.prompts import quantitative as prompts
from ai_psychiatrist.agents.pydantic_agents import create_evidence_agent, create_quantitative_agent
from ai_psychiatrist.domain.assessment import AssessmentMode, ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.errors import AgentFailed
from ai_psychiatrist.domain.evidence import Grounding, GroundingReport
from ai_psychiatrist.domain.failures import (
    FailureCategory,
    FailureCode,
    FailureSeverity,
    RejectionCode,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import parse_transcript
from ai_psychiatrist.infrastructure.failure_log import record_failure
from ai_psychiatrist.llm.chat import SimpleChatClient
from ai_psychiatrist.llm.output import ModelOutput
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.llm.routes import ModelChain, as_chain
from ai_psychiatrist.llm.runner import AgentRunner
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.evidence_settings import QuantitativeSettings
from ai_psychiatrist.services.evidence_validation import (
    EvidenceGroundingError,
    EvidenceSchemaError,
    ground_evidence,
    log_grounding,
    nothing_grounded,
)
from ai_psychiatrist.services.item_scoring import (
    decide_item,
    stated_frequency,
)

_WRONG_SHAPE = "The evidence did not have the shape that was asked for."
_ALL_REJECTED = "The model gave evidence quotes, but none of them stands in the transcript."


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The quotes of the evidence stage after their check."""

    report: GroundingReport
    unknown_keys: int


class QuantitativeAssessmentAgent:
    """Extracts evidence and scores the eight items from it."""

    def __init__(
        self,
        models: SimpleChatClient | ModelChain,
        *,
        pydantic_ai_settings: PydanticAISettings | None = None,
        ollama_base_url: str | None = None,
        settings: QuantitativeSettings | None = None,
        temperature: float = 0.0,
    ) -> None:
        """Arguments as for the qualitative agent; `settings` says how quotes are checked."""
        pydantic_ai = pydantic_ai_settings or PydanticAISettings(enabled=False)
        chain = as_chain(models, pydantic_ai_settings=pydantic_ai, ollama_base_url=ollama_base_url)
        self._settings = settings or QuantitativeSettings()
        self._evidence_runner = AgentRunner(
            EVIDENCE,
            create_evidence_agent(retries=pydantic_ai.retries),
            chain,
            pydantic_ai,
            temperature=temperature,
        )
        self._scoring_runner = AgentRunner(
            QUANTITATIVE,
            create_quantitative_agent(retries=pydantic_ai.retries),
            chain,
            pydantic_ai,
            temperature=temperature,
        )

    async def assess(self, case: Case) -> PHQ8Assessment | None:
        """Return the eight items, or `None` when evidence or scores could not be had."""
        try:
            evidence = await self._evidence(case)
        except (AgentFailed, EvidenceSchemaError, EvidenceGroundingError):
            return None
        return await self._score(case, evidence)

    async def _extract_evidence(
        self, transcript_text: str, *, participant_id: int | None
    ) -> dict[str, list[str]]:
        """Return the grounded quotes of each item key.

        Raises `EvidenceSchemaError` when the evidence never had the right shape,
        `EvidenceGroundingError` when all of it was refused and that is set to fail, and
        `AgentFailed` when no model gave any.
        """
        case = open_case(parse_transcript(transcript_text), participant_id=participant_id)
        return _texts((await self._evidence(case)).report)

    async def _evidence(self, case: Case) -> Evidence:
        outcome = await self._evidence_runner.run(case.prompt(prompts.EVIDENCE), case.calls)
        if outcome.output is None and outcome.rejection and outcome.rejection.violations:
            self._handle_wrong_shape(case, dict(outcome.rejection.violations))
        output = outcome.required(EVIDENCE.name)
        report = await case.check(partial(self._check, output.quotes, case))
        self._act_on(report, case)
        return Evidence(report=report, unknown_keys=output.unknown_keys)

    def _handle_wrong_shape(self, case: Case, violations: dict[str, str]) -> NoReturn:
        record_failure(
            FailureCategory.EVIDENCE_SCHEMA,
            FailureSeverity.ERROR,
            _WRONG_SHAPE,
            participant_id=case.participant_id,
            stage="evidence_extraction",
            code=FailureCode.OUTPUT_REJECTED,
            count=len(violations),
        )
        raise EvidenceSchemaError(_WRONG_SHAPE, violations=violations)

    def _act_on(self, report: GroundingReport, case: Case) -> None:
        settings = self._settings
        if not settings.evidence_quote_validation_enabled:
            return
        if settings.evidence_quote_log_rejections:
            mode = settings.evidence_quote_validation_mode
            log_grounding(report, case.transcript.text, mode=mode)
        if report.extracted_count > 0 and report.validated_count == 0:
            self._handle_all_rejected(case, report)

    def _check(self, quotes: dict[str, list[str]], case: Case) -> GroundingReport:
        settings = self._settings
        if not settings.evidence_quote_validation_enabled:
            return nothing_grounded(quotes, reason=None)
        return ground_evidence(
            quotes,
            case.index,
            mode=settings.evidence_quote_validation_mode,
            fuzzy_threshold=settings.evidence_quote_fuzzy_threshold,
        )

    def _handle_all_rejected(self, case: Case, report: GroundingReport) -> None:
        record_failure(
            FailureCategory.EVIDENCE_HALLUCINATION,
            FailureSeverity.ERROR,
            _ALL_REJECTED,
            participant_id=case.participant_id,
            stage="evidence_extraction",
            code=FailureCode.UNGROUNDED_EVIDENCE,
            mode=AssessmentMode.ZERO_SHOT.value,
            extracted_count=report.extracted_count,
            validation_mode=self._settings.evidence_quote_validation_mode,
        )
        if self._settings.evidence_quote_fail_on_all_rejected:
            raise EvidenceGroundingError(_ALL_REJECTED)

    async def _score(self, case: Case, evidence: Evidence) -> PHQ8Assessment | None:
        quotes = json.dumps(_texts(evidence.report), ensure_ascii=False, indent=1)
        prompt = case.prompt(prompts.SCORING, evidence=quotes)
        review = _SentBackOnce(lambda output: self._objections(case, output, evidence.report))
        outcome = await self._scoring_runner.run(prompt, case.calls, review=review)
        # A model that cannot be asked again, or then replies with nothing usable, has insisted.
        output = outcome.output or review.sent_back
        if output is None:
            return None
        report = evidence.report
        judged = await case.check(partial(self._judged, case, output, report))
        return PHQ8Assessment(
            items=tuple(item.assessment for item in judged),
            grounding=Grounding.CHECKED if self._is_checked else Grounding.DISABLED,
            extracted_count=report.extracted_count,
            validated_count=report.validated_count,
            rejected_count=report.rejected_count,
            unknown_keys=evidence.unknown_keys,
        )

    @property
    def _is_checked(self) -> bool:
        return self._settings.evidence_quote_validation_enabled

    async def _objections(
        self, case: Case, output: QuantitativeOutput, report: GroundingReport
    ) -> list[str]:
        """Return what the clinical rules hold against a reply, in words for the model."""
        if not self._is_checked:
            return []
        judged = await case.check(partial(self._judged, case, output, report))
        return [error for item in judged for error in item.finding.errors]

    def _judged(
        self, case: Case, output: QuantitativeOutput, report: GroundingReport
    ) -> tuple["_JudgedItem", ...]:
        return tuple(
            self._item(case, Item(key), proposal, report) for key, proposal in output.items.items()
        )

    def _item(
        self, case: Case, item: Item, proposal: ItemScoreOutput, report: GroundingReport
    ) -> "_JudgedItem":
        cited = self._check({item.value: list(proposal.evidence)}, case)
        extracted, rejected = report.accepted[item.value], report.rejected[item.value]
        decision = decide_item(
            proposal.score, extracted=extracted, cited=cited.accepted[item.value]
        )
        finding = ItemFinding()
        if self._is_checked:
            unfound = {quote.text for quote in cited.rejected[item.value]}
            finding = check_item(
                item, proposal, decision.quotes, lambda quote: quote not in unfound
            )
        unverified = {quote.text: quote for quote in (*rejected, *cited.rejected[item.value])}
        assessment = ItemAssessment(
            item=item,
            score=decision.score,
            unknown_reason=decision.unknown_reason,
            proposed_score=proposal.score,
            quotes=decision.quotes,
            frequency=stated_frequency(decision.quotes),
            unverified_quotes=tuple(unverified.values()),
            reason=proposal.reason,
            confidence=proposal.confidence,
            warnings=finding.rules,
            llm_evidence_count=len(extracted),
            llm_evidence_extracted_count=len(extracted) + len(rejected),
            llm_evidence_rejected_count=sum(quote.reason is not None for quote in rejected),
        )
        return _JudgedItem(assessment=assessment, finding=finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgedItem:
    """An item and what the rules say about the reply that it comes from."""

    assessment: ItemAssessment
    finding: ItemFinding


class _SentBackOnce:
    """Has scores that the clinical rules speak against sent back to the model, a single time.

    If it insists, the evidence decides: what it does not carry becomes unknown with that reason.
    Asking on would only wear the model down.
    """

    def __init__(self, objections: Callable[[QuantitativeOutput], Awaitable[list[str]]]) -> None:
        self._objections = objections
        self.sent_back: QuantitativeOutput | None = None

    async def __call__(self, output: ModelOutput) -> None:
        if self.sent_back is not None or not isinstance(output, QuantitativeOutput):
            return
        objections = await self._objections(output)
        if objections:
            self.sent_back = output
            raise ReplyRejected(
                RejectionCode.RULE_BROKEN,
                f"{'. '.join(objections)}. Give all eight items again, these mended.",
            )


def _texts(report: GroundingReport) -> dict[str, list[str]]:
    return {key: [quote.text for quote in quotes] for key, quotes in report.accepted.items()}
