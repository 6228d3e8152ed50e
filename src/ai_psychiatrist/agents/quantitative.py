"""The quantitative agent: quotes for each item, checked, and then a score that stands on them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import NoReturn, TypeAlias

from ai_psychiatrist.agents.case import Case, open_case
from ai_psychiatrist.agents.contracts.item_check import served_by
from ai_psychiatrist.agents.definition import ABLATION, EVIDENCE, QUANTITATIVE
from ai_psychiatrist.agents.item_review import JudgedItem, SentBackOnce
from ai_psychiatrist.agents.model_agent import ModelAgent
from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    PartialScores,
    QuantitativeOutput,
)
from ai_psychiatrist.agents.prompts.digests import SCORING_TASKS
from ai_psychiatrist.agents.proposed_item import ProposedItem, judged_item
from ai_psychiatrist.agents.pydantic_agents import (
    create_ablation_agent,
    create_evidence_agent,
    create_quantitative_agent,
)
from ai_psychiatrist.agents.references import ShownReferences, required, shown_references
from ai_psychiatrist.agents.unscored import unscored_item
from ai_psychiatrist.domain.assessment import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.errors import AgentFailed, ModelCallFailed
from ai_psychiatrist.domain.evidence import (
    Grounding,
    GroundingReport,
    Quote,
    UnreadAnswer,
    distinct_quotes,
)
from ai_psychiatrist.domain.failures import (
    FailureCategory,
    FailureCode,
    FailureSeverity,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.failure_log import record_failure
from ai_psychiatrist.infrastructure.worker_processes import in_worker_process, is_for_process
from ai_psychiatrist.llm.definition import Prompt
from ai_psychiatrist.llm.runner import AgentOutcome, AgentRunner
from ai_psychiatrist.services.evidence_validation import (
    EvidenceGroundingError,
    EvidenceSchemaError,
    all_refused,
    ground_evidence,
    log_grounding,
    nothing_grounded,
)
from ai_psychiatrist.services.evidence_validation.asked_items import asked_items
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

OnUnscored: TypeAlias = Callable[[PHQ8Assessment], None]

_WRONG_SHAPE = "The evidence did not have the shape that was asked for."


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The quotes of the evidence stage after their check."""

    report: GroundingReport
    unknown_keys: int


class QuantitativeAssessmentAgent(ModelAgent[QuantitativeSettings]):
    """Extracts evidence and scores the eight items from it."""

    default_settings = QuantitativeSettings

    @cached_property
    def _finder(self) -> AgentRunner[EvidenceOutput]:
        return self._runner(EVIDENCE, create_evidence_agent)

    @cached_property
    def _scorer(self) -> AgentRunner[QuantitativeOutput]:
        return self._runner(QUANTITATIVE, create_quantitative_agent)

    @cached_property
    def _ablation_scorer(self) -> AgentRunner[QuantitativeOutput]:
        return self._runner(ABLATION, create_ablation_agent)

    @property
    def most_calls(self) -> int:
        """How many calls evidence and scores may cost."""
        return self._finder.most_calls + self._scorer.most_calls

    async def assess(
        self,
        case: Case,
        *,
        on_evidence: OnUnscored = lambda _: None,
        on_scoring: OnUnscored = lambda _: None,
    ) -> PHQ8Assessment | None:
        """Return the eight items, or `None` when neither evidence nor scores could be had.

        When scoring fails, the items are unknown for that reason and keep what evidence there is;
        where a reply can be read in part, only those that cannot.
        `on_evidence` is told of such items as soon as there are quotes, as what follows may be cut
        short; `on_scoring` once there is all that scoring is shown.
        """
        try:
            evidence = await self._evidence(case)
        except (AgentFailed, EvidenceSchemaError, EvidenceGroundingError):
            return None
        unscored = self._assessment(
            evidence, [unscored_item(case, item, evidence.report) for item in Item]
        )
        if not evidence.report.validated_count:
            return await self._score(case, evidence)
        on_evidence(unscored)
        return await self._score(case, evidence, partial(on_scoring, unscored)) or unscored

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
        prompt = case.prompt(case.tasks[EVIDENCE.name])
        outcome = await self._finder.run(prompt, case.calls)
        if outcome.output is None and outcome.rejection and outcome.rejection.violations:
            self._handle_wrong_shape(case, dict(outcome.rejection.violations))
        output = outcome.required(EVIDENCE.name)
        report = await self._check(output.quotes, case)
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

    async def _check(self, quotes: Mapping[str, Sequence[str]], case: Case) -> GroundingReport:
        settings = self._settings
        if not settings.evidence_quote_validation_enabled:
            return nothing_grounded(quotes, reason=None)
        mode = settings.evidence_quote_validation_mode
        threshold = settings.evidence_quote_fuzzy_threshold
        given = chain.from_iterable(quotes.values())
        await case.look_up(given, mode=mode, fuzzy_threshold=threshold)
        return ground_evidence(quotes, case.index, mode=mode, fuzzy_threshold=threshold)

    def _handle_all_rejected(self, case: Case, report: GroundingReport) -> None:
        message = all_refused(report)
        record_failure(
            FailureCategory.EVIDENCE_HALLUCINATION,
            FailureSeverity.ERROR,
            message,
            participant_id=case.participant_id,
            stage="evidence_extraction",
            code=FailureCode.UNGROUNDED_EVIDENCE,
            mode=case.scoring.mode.value,
            extracted_count=report.extracted_count,
            validation_mode=self._settings.evidence_quote_validation_mode,
        )
        if self._settings.evidence_quote_fail_on_all_rejected:
            raise EvidenceGroundingError(message)

    async def _score(
        self, case: Case, evidence: Evidence, on_scoring: Callable[[], None] = lambda: None
    ) -> PHQ8Assessment | None:
        report = evidence.report
        try:
            shown = await self._shown(case, report)
        except ModelCallFailed as error:
            self._handle_no_lookup(case, error)
            return None
        if shown is not None:
            case.beside["references"] = shown.text
        on_scoring()
        prompt = scoring_prompt(case, _texts(report))
        review = SentBackOnce(partial(self._judged, case, report), is_checked=self._is_checked)
        outcome = await self._scorer.run(prompt, case.calls, review=review)
        kept = None
        if outcome.output is None and isinstance(outcome.kept, PartialScores):
            kept = outcome.kept
        # A model that cannot be asked again, or then replies with nothing usable, has insisted.
        output = kept.as_whole() if kept else outcome.output or review.sent_back
        if output is None:
            return None
        items = [one.assessment for one in await review.judged(output)]
        if kept is not None:
            items = [_in_part(one, kept, unscored_item(case, one.item, report)) for one in items]
        if shown is not None:
            items = [shown.told_in(one) for one in items]
        is_accepted = not kept.lost_count if kept else outcome.output is not None
        return self._assessment(evidence, items, is_accepted=is_accepted)

    async def score_changed(
        self, case: Case, evidence: Mapping[str, Sequence[str]]
    ) -> AgentOutcome[QuantitativeOutput]:
        """Return what the model says of a changed transcript, which no rule speaks against.

        `evidence`: item key → quotes.
        """
        return await self._ablation_scorer.run(scoring_prompt(case, evidence), case.calls)

    async def _shown(self, case: Case, report: GroundingReport) -> ShownReferences | None:
        if not case.scoring.mode.shows_references:
            return None
        source = required(case.scoring.mode, case.references)
        scoring = case.scoring
        if scoring.participant is None:
            scoring = replace(scoring, participant=case.participant_id)
        return await shown_references(source, report.accepted, case.transcript, scoring)

    def _handle_no_lookup(self, case: Case, error: ModelCallFailed) -> None:
        """Score nothing: without its references the mode would be another one."""
        record_failure(
            FailureCategory.REFERENCES_FAILED,
            FailureSeverity.ERROR,
            "The server of REFERENCES_EMBEDDER gave no usable vectors: no item was scored.",
            participant_id=case.participant_id,
            stage="references",
            code=error.code,
            mode=case.scoring.mode.value,
        )

    async def standing(
        self, case: Case, found: PHQ8Assessment, output: QuantitativeOutput
    ) -> dict[Item, int | None]:
        """Return which scores of a reply about evidence that is found stand on it, else `None`."""
        accepted = {item.item.value: item.quotes for item in found.items}
        report = GroundingReport(accepted=accepted, rejected=dict.fromkeys(accepted, ()))
        judged = await self._judged(case, report, output)
        return {one.assessment.item: one.assessment.score for one in judged}

    def _assessment(
        self, evidence: Evidence, items: Sequence[ItemAssessment], *, is_accepted: bool = False
    ) -> PHQ8Assessment:
        report = evidence.report
        return PHQ8Assessment(
            items=tuple(items),
            is_accepted=is_accepted,
            grounding=Grounding.CHECKED if self._is_checked else Grounding.DISABLED,
            extracted_count=report.extracted_count,
            validated_count=report.validated_count,
            rejected_count=report.rejected_count,
            unknown_keys=evidence.unknown_keys,
        )

    @property
    def _is_checked(self) -> bool:
        return self._settings.evidence_quote_validation_enabled

    async def _judged(
        self, case: Case, report: GroundingReport, output: QuantitativeOutput
    ) -> tuple[JudgedItem, ...]:
        evidence = {key: proposal.evidence for key, proposal in output.items.items()}
        cited = await self._check(evidence, case)
        given = {
            key: distinct_quotes([*cited.accepted[key], *report.accepted[key]])
            for key in output.items
        }
        served = served_by(output, given)
        asked = await self._asked(case, output, given)
        unshared = await _unshared(case, output, given)
        return tuple(
            judged_item(
                ProposedItem(
                    item=Item(key),
                    answer=answer,
                    quotes=case.reader.for_item(given[key], Item(key)),
                    unfound=cited.rejected[key],
                    served=served,
                    asked=asked.get(Item(key)),
                    is_shared=Item(key) not in unshared,
                ),
                unscored_item(case, Item(key), report),
                is_checked=self._is_checked,
            )
            for key, answer in output.items.items()
        )

    async def _asked(
        self, case: Case, output: QuantitativeOutput, given: Mapping[str, Sequence[Quote]]
    ) -> Mapping[Item, UnreadAnswer]:
        """Return what was asked for by name, where an item has neither a score nor a quote."""
        if not any(one.score is None and not given[key] for key, one in output.items.items()):
            return {}
        text = case.transcript.text
        if is_for_process(text):
            return await in_worker_process(text, asked_items, case.transcript)
        return asked_items(case.transcript)


async def _unshared(
    case: Case, output: QuantitativeOutput, given: Mapping[str, Sequence[Quote]]
) -> frozenset[Item]:
    """Return the items of whose quotes the learned reader takes none for what the score says."""
    unshared: set[Item] = set()
    for key, answer in output.items.items():
        item, segments = Item(key), [part for quote in given[key] for part in quote.segments]
        if answer.score is None or not segments:
            continue
        shares = case.reading.shares_present if answer.score else case.reading.shares_denied
        if not await shares(item, segments):
            unshared.add(item)
    return frozenset(unshared)


def _in_part(item: ItemAssessment, kept: PartialScores, unscored: ItemAssessment) -> ItemAssessment:
    """Return an item of a reply that was read in part, with what of it was not as warnings.

    `unscored`: the item as evidence left it, for one whose score or quotes were not read.
    """
    standing = item if item.item in kept.items else unscored
    unread = kept.unread.get(item.item, ())
    return replace(standing, warnings=(*standing.warnings, *unread))


def scoring_prompt(case: Case, evidence: Mapping[str, Sequence[str]]) -> Prompt:
    """Return what scoring is asked in the case's mode; `evidence`: item key → quotes."""
    quotes = json.dumps(evidence, ensure_ascii=False, indent=1)
    return case.prompt(case.tasks[SCORING_TASKS[case.scoring.mode]], evidence=quotes, **case.beside)


def _texts(report: GroundingReport) -> dict[str, list[str]]:
    return {key: [quote.text for quote in quotes] for key, quotes in report.accepted.items()}
