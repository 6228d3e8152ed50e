"""The quantitative agent: quotes for each item, checked, and then a score that stands on them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TypeAlias

from ai_psychiatrist.agents.context import AssessmentContext, assessment_context
from ai_psychiatrist.agents.item_rules import (
    JudgedItem,
    distinct_texts,
    judged_item,
    quote_use_of,
)
from ai_psychiatrist.agents.output_models import EvidenceOutput, PartialScores, QuantitativeOutput
from ai_psychiatrist.agents.prompts.tasks import SCORING_TASKS
from ai_psychiatrist.agents.pydantic_agents import (
    ABLATION,
    EVIDENCE,
    QUANTITATIVE,
    ModelAgent,
    create_evidence_agent,
    create_quantitative_agent,
)
from ai_psychiatrist.agents.references import ShownReferences, required, shown_references
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import AgentFailed, ModelCallFailed
from ai_psychiatrist.domain.evidence import (
    Grounding,
    GroundingReport,
    Quote,
    UnreadAnswer,
    distinct_quotes,
    stated_frequency,
)
from ai_psychiatrist.domain.failures import (
    FailureCategory,
    FailureCode,
    FailureSeverity,
    RejectionCode,
)
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment, QuoteGrounding
from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, UnknownReason
from ai_psychiatrist.infrastructure.logging import record_failure
from ai_psychiatrist.infrastructure.off_loop import is_for_process, run_in_thread, work_on_text
from ai_psychiatrist.llm.definition import Prompt
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected
from ai_psychiatrist.llm.runner import AgentOutcome, AgentRunner
from ai_psychiatrist.services.evidence_validation import (
    EvidenceGroundingError,
    EvidenceSchemaError,
    all_refused,
    ground_evidence,
    log_grounding,
    nothing_grounded,
)
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings
from ai_psychiatrist.services.evidence_validation.support import asked_items
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

OnUnscored: TypeAlias = Callable[[PHQ8Assessment], None]

_WRONG_SHAPE = "The evidence did not have the shape that was asked for."


class Evidence(dict[str, list[str]]):
    """Item key → the grounded quotes as texts, with the report on all that were given."""

    def __init__(
        self, report: GroundingReport, unknown_keys: int = 0, *, is_whole: bool = True
    ) -> None:
        """`is_whole`: whether all parts of the interview were read for it."""
        accepted = report.accepted.items()
        super().__init__({key: [quote.text for quote in quotes] for key, quotes in accepted})
        self.report = report
        self.unknown_keys = unknown_keys
        self.is_whole = is_whole


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
        return self._runner(ABLATION)

    @property
    def most_calls(self) -> int:
        """How many calls evidence and scores may cost."""
        return self._finder.most_calls + self._scorer.most_calls

    @property
    def most_evidence_calls(self) -> int:
        """How many calls the evidence of one interview, or of one part, may cost."""
        return self._finder.most_calls

    @property
    def is_checked(self) -> bool:
        """Whether quotes are held against the transcript."""
        return self._settings.evidence_quote_validation_enabled

    async def assess(
        self,
        context: AssessmentContext,
        *,
        on_evidence: OnUnscored = lambda _: None,
        on_scoring: OnUnscored = lambda _: None,
    ) -> PHQ8Assessment | None:
        """Return the eight items, or `None` when neither evidence nor scores could be had.

        When scoring fails, the items are unknown for that reason and keep what evidence there is;
        where a reply can be read in part, only those that cannot.
        `on_evidence` gets such items as soon as there are quotes, as what follows may be cut short;
        `on_scoring` once there is all that scoring is shown.
        """
        evidence = await self.evidence(context)
        if evidence is None:
            return None
        return await self.scored(context, evidence, on_evidence=on_evidence, on_scoring=on_scoring)

    async def evidence(self, context: AssessmentContext) -> Evidence | None:
        """Return the grounded quotes of all parts; `None` when they could not be had."""
        try:
            return await self._extract_evidence(
                context.transcript.text, participant_id=context.participant_id, context=context
            )
        except EvidenceGroundingError:
            _record_not_scored(context)
            return None
        except (AgentFailed, EvidenceSchemaError):
            return None

    async def scored(
        self,
        context: AssessmentContext,
        evidence: Evidence,
        *,
        on_evidence: OnUnscored = lambda _: None,
        on_scoring: OnUnscored = lambda _: None,
    ) -> PHQ8Assessment | None:
        """Score the items on evidence that is found, as `assess` does."""
        read = partial(self.unscored, context, evidence)
        # What quotes of a long text say takes as long as they are.
        is_long = is_for_process(context.transcript.text)
        unscored = await run_in_thread(read) if is_long else read()
        if not evidence.report.validated_count:
            return await self._score(context, evidence, unscored, lambda _: None)
        on_evidence(unscored)
        return await self._score(context, evidence, unscored, on_scoring) or unscored

    def unscored(self, context: AssessmentContext, evidence: Evidence) -> PHQ8Assessment:
        """Return the eight items with their evidence, each unknown, as its scoring has failed."""
        return PHQ8Assessment(
            items={item: _unscored_item(context, item, evidence.report) for item in Item},
            accepted=False,
            grounding=self._grounding(evidence),
        )

    async def _extract_evidence(
        self,
        transcript_text: str,
        *,
        participant_id: int | None,
        context: AssessmentContext | None = None,
    ) -> Evidence:
        """Return the grounded quotes of each item key.

        `context`: of the assessment that the transcript is part of. Raises `EvidenceSchemaError`
        when the evidence never had the right shape, `EvidenceGroundingError` when all of it was
        refused and that is set to fail, and `AgentFailed` when no model gave any.
        """
        if context is None:
            transcript = parse_transcript(transcript_text)
            context = assessment_context(transcript, participant_id=participant_id)
        found = await context.of_parts(self._found)
        outputs = [one for one in found if isinstance(one, EvidenceOutput)]
        errors = [one for one in found if not isinstance(one, EvidenceOutput)]
        # This frame, which an error's traceback leads to, must not hold the error: all that the
        # circle names would wait for the collector.
        del found
        if not outputs:
            raise errors.pop(0)
        quotes = outputs[0].quotes
        if len(outputs) > 1:
            quotes = {
                key: list(dict.fromkeys(chain.from_iterable(one.quotes[key] for one in outputs)))
                for key in quotes
            }
        report = await self.grounded(context, quotes)
        if self.is_checked:
            self._act_on_rejections(context, report)
        if len(outputs) > 1:
            # Parts overlap: the same words can come from two of them in other spellings.
            accepted = {key: distinct_quotes(those) for key, those in report.accepted.items()}
            report = replace(report, accepted=accepted)
        unknown_keys = sum(one.unknown_keys for one in outputs)
        return Evidence(report, unknown_keys, is_whole=not errors)

    async def _found(
        self, context: AssessmentContext
    ) -> EvidenceOutput | EvidenceSchemaError | AgentFailed:
        """Return the quotes that a model gives of one part, or why there are none."""
        prompt = context.prompt(context.tasks[EVIDENCE.name])
        outcome = await self._finder.run(prompt, context.calls)
        violations = outcome.rejection.violations if outcome.rejection else {}
        if outcome.output is None and violations:
            record_failure(
                FailureCategory.EVIDENCE_SCHEMA,
                FailureSeverity.ERROR,
                _WRONG_SHAPE,
                participant_id=context.participant_id,
                stage="evidence_extraction",
                code=FailureCode.OUTPUT_REJECTED,
                count=len(violations),
            )
            return EvidenceSchemaError(_WRONG_SHAPE, violations=dict(violations))
        if outcome.output is None:
            return AgentFailed(EVIDENCE.name, outcome.failure or FailureCode.OUTPUT_REJECTED)
        return outcome.output

    async def grounded(
        self, context: AssessmentContext, quotes: Mapping[str, Sequence[str]]
    ) -> GroundingReport:
        """Hold quotes against the transcript, as the settings say; `quotes`: item key → texts."""
        if not self.is_checked:
            return nothing_grounded(quotes, reason=None)
        mode = self._settings.evidence_quote_validation_mode
        threshold = self._settings.evidence_quote_fuzzy_threshold
        given = chain.from_iterable(quotes.values())
        await context.look_up(given, mode=mode, fuzzy_threshold=threshold)
        return ground_evidence(quotes, context.index, mode=mode, fuzzy_threshold=threshold)

    def _act_on_rejections(self, context: AssessmentContext, report: GroundingReport) -> None:
        settings = self._settings
        mode = settings.evidence_quote_validation_mode
        if settings.evidence_quote_log_rejections:
            log_grounding(report, context.transcript.text, mode=mode)
        if report.validated_count or not report.extracted_count:
            return
        message = all_refused(report)
        record_failure(
            FailureCategory.EVIDENCE_HALLUCINATION,
            FailureSeverity.ERROR,
            message,
            participant_id=context.participant_id,
            stage="evidence_extraction",
            code=FailureCode.UNGROUNDED_EVIDENCE,
            mode=context.scoring.mode.value,
            extracted_count=report.extracted_count,
            validation_mode=mode,
        )
        if settings.evidence_quote_fail_on_all_rejected:
            raise EvidenceGroundingError(message)

    async def _score(
        self,
        context: AssessmentContext,
        evidence: Evidence,
        unscored: PHQ8Assessment,
        on_scoring: OnUnscored,
    ) -> PHQ8Assessment | None:
        try:
            shown = await _shown(context, evidence.report)
        except ModelCallFailed as error:
            _record_no_references(context, error)
            return None
        if shown is not None:
            context.shown_blocks["references"] = shown.text
        on_scoring(unscored)
        validator = _ScoreValidator(self, context, evidence.report)
        prompt = scoring_prompt(context, evidence)
        outcome = await self._scorer.run(prompt, context.calls, review=validator)
        refused = outcome.kept if outcome.output is None else None
        kept = refused if isinstance(refused, PartialScores) else None
        # A model that cannot be asked again, or then replies with nothing usable, has insisted.
        output = kept.as_whole() if kept else outcome.output or validator.sent_back
        if output is None:
            return None
        items = [one.assessment for one in await validator.judged(output)]
        if kept is not None:
            items = [_in_part(one, kept, unscored.items[one.item]) for one in items]
        if shown is not None:
            items = [shown.recorded_in(one) for one in items]
        if not evidence.is_whole:
            items = [_perhaps_unread(one) for one in items]
        is_accepted = not kept.lost_count if kept else outcome.output is not None
        return replace(unscored, items={one.item: one for one in items}, accepted=is_accepted)

    def _grounding(self, evidence: Evidence) -> QuoteGrounding:
        report = evidence.report
        rejected = {
            key: sum(quote.reason is not None for quote in quotes)
            for key, quotes in report.rejected.items()
        }
        return QuoteGrounding(
            grounding=Grounding.CHECKED if self.is_checked else Grounding.DISABLED,
            extracted_count=report.extracted_count,
            validated_count=report.validated_count,
            rejected_count=report.rejected_count,
            rejected_by_domain=rejected,
            unknown_keys=evidence.unknown_keys,
        )

    async def score_changed(
        self, context: AssessmentContext, evidence: Mapping[str, Sequence[str]]
    ) -> AgentOutcome[QuantitativeOutput]:
        """Return what the model says of a changed transcript, which no rule speaks against.

        `evidence`: item key → quotes.
        """
        return await self._ablation_scorer.run(scoring_prompt(context, evidence), context.calls)

    async def standing(
        self, context: AssessmentContext, found: PHQ8Assessment, output: QuantitativeOutput
    ) -> dict[Item, int | None]:
        """Return which scores of a reply about evidence that is found stand on it, else `None`."""
        accepted = {key.value: item.evidence for key, item in found.items.items()}
        report = GroundingReport(accepted=accepted, rejected=dict.fromkeys(accepted, ()))
        judged = await _ScoreValidator(self, context, report).judged(output)
        return {one.assessment.item: one.assessment.score for one in judged}


@dataclass(slots=True)
class _ScoreValidator:
    """Output validator with one retry: scores that the clinical rules speak against are sent back.

    If the model insists, the evidence decides: what it does not carry becomes unknown with that
    reason. Asking on would only wear the model down.
    """

    agent: QuantitativeAssessmentAgent
    context: AssessmentContext
    report: GroundingReport
    sent_back: QuantitativeOutput | None = None
    _known: tuple[QuantitativeOutput, tuple[JudgedItem, ...]] | None = None

    async def __call__(self, output: ModelOutput) -> None:
        if not self.agent.is_checked or not isinstance(output, QuantitativeOutput):
            return
        judged = await self.judged(output)
        objections = [error for item in judged for error in item.errors]
        if objections and self.sent_back is None:
            self.sent_back = output
            raise ReplyRejected(
                RejectionCode.RULE_BROKEN,
                f"{'. '.join(objections)}. Give all eight items again, with these corrected.",
            )

    async def judged(self, output: QuantitativeOutput) -> tuple[JudgedItem, ...]:
        """Return the items of an output; those of the last one are remembered."""
        if self._known is None or self._known[0] is not output:
            self._known = (output, await self._judged(output))
        return self._known[1]

    async def _judged(self, output: QuantitativeOutput) -> tuple[JudgedItem, ...]:
        context, report, answers = self.context, self.report, output.items
        evidence = {key: answer.evidence for key, answer in answers.items()}
        cited = await self.agent.grounded(context, evidence)
        given = {
            key: distinct_quotes([*cited.accepted[key], *report.accepted[key]]) for key in answers
        }
        quote_use = quote_use_of(output, given)
        asked = await _asked(context, output, given)
        unshared = await _unshared(context, output, given)
        return tuple(
            judged_item(
                _unscored_item(context, Item(key), report),
                answer,
                quotes=context.assertions.for_item(given[key], Item(key)),
                unfound=cited.rejected[key],
                quote_use=quote_use,
                unread_answer=asked.get(Item(key)),
                is_shared=Item(key) not in unshared,
                is_checked=self.agent.is_checked,
            )
            for key, answer in answers.items()
        )


async def _shown(context: AssessmentContext, report: GroundingReport) -> ShownReferences | None:
    if not context.scoring.mode.shows_references:
        return None
    source = required(context.scoring.mode, context.references)
    scoring = context.scoring
    if scoring.participant is None:
        scoring = replace(scoring, participant=context.participant_id)
    if scoring.mode is AssessmentMode.FEW_SHOT and any(report.accepted.values()):
        context.calls.other_hosts.update(source.hosts())
    return await shown_references(source, report.accepted, context.transcript, scoring)


def _record_not_scored(context: AssessmentContext) -> None:
    """Record that nothing is scored, because the settings say so of evidence without a quote."""
    attempts = context.calls.attempts
    record_failure(
        FailureCategory.STAGE_SKIPPED,
        FailureSeverity.ERROR,
        "No quote was accepted: as QUANTITATIVE_EVIDENCE_QUOTE_FAIL_ON_ALL_REJECTED is set, no "
        "item was scored.",
        participant_id=context.participant_id,
        stage=QUANTITATIVE.name,
        code=FailureCode.UNGROUNDED_EVIDENCE,
        model=next(one.model for one in reversed(attempts) if one.agent == EVIDENCE.name),
    )


def _record_no_references(context: AssessmentContext, error: ModelCallFailed) -> None:
    """Record that nothing is scored: without its references the mode would be another one."""
    record_failure(
        FailureCategory.REFERENCES_FAILED,
        FailureSeverity.ERROR,
        "The server of REFERENCES_EMBEDDER gave no usable vectors: no item was scored.",
        participant_id=context.participant_id,
        stage="references",
        code=error.code,
        mode=context.scoring.mode.value,
    )


async def _asked(
    context: AssessmentContext, output: QuantitativeOutput, given: Mapping[str, Sequence[Quote]]
) -> Mapping[Item, UnreadAnswer]:
    """Return what was asked for by name, where an item has neither a score nor a quote."""
    if not any(one.score is None and not given[key] for key, one in output.items.items()):
        return {}
    return await work_on_text(context.transcript.text, asked_items, context.transcript)


async def _unshared(
    context: AssessmentContext, output: QuantitativeOutput, given: Mapping[str, Sequence[Quote]]
) -> frozenset[Item]:
    """Return the items of whose quotes the learned reader takes none for what the score says."""
    unshared: set[Item] = set()
    for key, answer in output.items.items():
        item, segments = Item(key), [part for quote in given[key] for part in quote.segments]
        if answer.score is None or not segments:
            continue
        shares = (
            context.learned_reading.shares_present
            if answer.score
            else context.learned_reading.shares_denied
        )
        if not await shares(item, segments):
            unshared.add(item)
    return frozenset(unshared)


def _unscored_item(
    context: AssessmentContext, item: Item, report: GroundingReport
) -> ItemAssessment:
    """Return an item with its evidence and without a score."""
    extracted, rejected = report.accepted[item.value], report.rejected[item.value]
    quotes = context.assertions.for_item(distinct_quotes(extracted), item)
    return ItemAssessment(
        item=item,
        score=None,
        unknown_reason=UnknownReason.SCORING_FAILED,
        proposed_score=None,
        evidence=quotes,
        frequency=stated_frequency(quotes),
        unverified_quotes=distinct_texts(rejected),
        reason="",
        confidence=None,
        warnings=(),
        llm_evidence_count=len(extracted),
        llm_evidence_extracted_count=len(extracted) + len(rejected),
        llm_evidence_rejected_count=sum(quote.reason is not None for quote in rejected),
    )


def _perhaps_unread(item: ItemAssessment) -> ItemAssessment:
    """Return an item of an interview of which a part was not read: it may be spoken of there."""
    if item.unknown_reason is not UnknownReason.NO_MENTION:
        return item
    cause = NotExaminedCause.READER_FAILED
    return replace(item, unknown_reason=UnknownReason.NOT_EXAMINED, not_examined_cause=cause)


def _in_part(item: ItemAssessment, kept: PartialScores, unscored: ItemAssessment) -> ItemAssessment:
    """Return an item of a reply that was read in part, with what of it was not as warnings.

    `unscored`: the item as evidence left it, for one whose score or quotes were not read.
    """
    standing = item if item.item in kept.items else unscored
    unread = kept.unread.get(item.item, ())
    return replace(standing, warnings=(*standing.warnings, *unread))


def scoring_prompt(context: AssessmentContext, evidence: Mapping[str, Sequence[str]]) -> Prompt:
    """Return what scoring is asked in the context's mode; `evidence`: item key → quotes."""
    task = context.tasks[SCORING_TASKS[context.scoring.mode]]
    quotes = json.dumps(evidence, ensure_ascii=False, indent=1)
    return context.prompt(task, evidence=quotes, **context.shown_blocks)
