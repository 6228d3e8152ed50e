"""Check the agents' kept replies again: read as the agents read them, judged by a contract."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel, ConfigDict, ValidationError

from ai_psychiatrist.agents.contracts.contract import contract_steps, item_verdict, step_of_agent
from ai_psychiatrist.agents.item_rules import quote_use_of
from ai_psychiatrist.agents.output_models import QuantitativeOutput
from ai_psychiatrist.agents.pydantic_agents import (
    ABLATION,
    AGENT_ORDER,
    DANGER,
    EVIDENCE,
    JUDGE,
    JUDGES,
    META_REVIEW,
    QUALITATIVE,
    QUANTITATIVE,
    RESCORING,
)
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import Quote, UnverifiedQuote, distinct_quotes
from ai_psychiatrist.domain.failures import FailureStage, RejectionCode, stage_of_code
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected
from ai_psychiatrist.pipelines.pipeline_run import StepChecks
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.language.identification import examined_in
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.verdict import UnitError, Verdict
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

Extract = Callable[[str], ModelOutput]
Ground = Callable[[str], Quote | UnverifiedQuote]

_EXTRACTS: Mapping[str, Extract] = {
    QUALITATIVE.name: QUALITATIVE.extract,
    EVIDENCE.name: EVIDENCE.extract,
    QUANTITATIVE.name: QUANTITATIVE.extract,
    ABLATION.name: ABLATION.extract,
    **{definition.name: definition.extract for definition in JUDGE.values()},
    JUDGES.name: JUDGES.extract,
    META_REVIEW.name: META_REVIEW.extract,
    DANGER.name: DANGER.extract,
    RESCORING.name: RESCORING.extract,
}


def checkers_for(ledger: RunStore, contract: PipelineConfig) -> dict[str, StepChecks]:
    """Return the checks of the run's agents' replies by a contract, such as the run's own.

    Quotes are checked as the run's settings say. Raises `ConfigurationError` when a step's schema
    or rules cannot be compiled, and `InputError` when the folder's record of the run is damaged.
    """
    steps = contract_steps(contract)
    items = _ItemRules(step=steps["item"], ledger=ledger, settings=_settings_of(ledger))
    return {
        agent: _checks(
            _EXTRACTS[agent],
            steps[step_of_agent(agent)],
            items if agent == QUANTITATIVE.name else None,
        )
        for agent in AGENT_ORDER
        if agent in ledger.steps and agent in _EXTRACTS
    }


def _checks(extract: Extract, step: StepValidator, items: "_ItemRules | None") -> StepChecks:
    """Return the checks of a reply: read as its agent does, and judged by the contract's step.

    `items`: rules of single items, which read the quotes that were found.
    """

    def check(unit_id: str, raw: str, context: bytes | None) -> Verdict:
        """Return what becomes of a reply; `context` is the transcript's text."""
        try:
            output = extract(raw)
        except ReplyRejected as rejection:
            error = UnitError(rule=rejection.code.value, message=str(rejection))
            return Verdict(value=None, stage=stage_of_code(rejection.code), errors=(error,))
        verdict = step.check_object(output.model_dump(mode="json"))
        verdict = replace(verdict, repaired=output.repaired)
        if items is None or context is None or not verdict.is_valid:
            return verdict
        return items.applied(verdict, output, unit_id, context)

    more = "" if items is None else f"+{items.step.ruleset_digest}"
    return StepChecks(
        check=check,
        ruleset_digest=f"{step.ruleset_digest}{more}",
        schema_digest=step.schema_digest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ItemRules:
    step: StepValidator
    ledger: RunStore
    settings: "_RecordedSettings"

    def applied(
        self, verdict: Verdict, output: ModelOutput, unit_id: str, context: bytes
    ) -> Verdict:
        """Apply the item rules; those that a model insisted against are warnings, as in the run."""
        if (
            not isinstance(output, QuantitativeOutput)
            or not self.settings.quantitative.evidence_quote_validation_enabled
        ):
            return verdict
        transcript = self.settings.transcript_of(context)
        ground = self.settings.grounding(transcript)
        reader = AssertionClassifier(transcript, examined_in(transcript).wholly_unread)
        evidence = self._evidence(unit_id)
        given = {
            key: _quotes(ground, [*answer.evidence, *evidence.get(key, ())])
            for key, answer in output.items.items()
        }
        quote_use = quote_use_of(output, given)
        found = [
            item_verdict(
                Item(key),
                answer,
                reader.for_item(given[key], Item(key)),
                lambda text: isinstance(ground(text), Quote),
                step=self.step,
                quote_use=quote_use,
            )
            for key, answer in output.items.items()
        ]
        errors, warnings = (
            tuple(
                replace(one, parts=("items", key, *one.parts))
                for key, notes in zip(output.items, every, strict=True)
                for one in notes
            )
            for every in ([one.errors for one in found], [one.warnings for one in found])
        )
        if not errors or self._was_sent_back(unit_id):
            return replace(verdict, warnings=(*verdict.warnings, *errors, *warnings))
        return replace(
            verdict,
            stage=FailureStage.VALIDATION,
            errors=errors,
            warnings=(*verdict.warnings, *warnings),
        )

    def _evidence(self, unit_id: str) -> Mapping[str, Sequence[str]]:
        accepted = [
            attempt.output
            for attempt in self.ledger.history(unit_id, EVIDENCE.name)
            if attempt.stage is None and attempt.output is not None
        ]
        quotes = accepted[-1].get("quotes") if accepted else None
        return quotes if isinstance(quotes, dict) else {}

    def _was_sent_back(self, unit_id: str) -> bool:
        """Return whether broken rules were fed back to the model before its last reply."""
        history = self.ledger.history(unit_id, QUANTITATIVE.name)
        return any(
            error.get("rule") == RejectionCode.RULE_BROKEN
            for attempt in history[:-1]
            for error in attempt.errors
        )


def _quotes(ground: Ground, texts: Sequence[str]) -> tuple[Quote, ...]:
    grounded = (ground(text) for text in dict.fromkeys(texts))
    return distinct_quotes([quote for quote in grounded if isinstance(quote, Quote)])


class _RecordedLabels(BaseModel):
    participant_labels: tuple[str, ...] = ()
    interviewer_labels: tuple[str, ...] = ()


class _RecordedSettings(BaseModel):
    """The part of a run's record that decides how transcripts are read and quotes checked."""

    model_config = ConfigDict(hide_input_in_errors=True)

    quantitative: QuantitativeSettings
    transcript: _RecordedLabels

    def transcript_of(self, context: bytes) -> Transcript:
        """Read a transcript's text as the run did."""
        labels = SpeakerLabels(
            interviewer=self.transcript.interviewer_labels,
            participant=self.transcript.participant_labels,
        )
        return parse_transcript(context.decode("utf-8", "surrogatepass"), labels)

    def grounding(self, transcript: Transcript) -> Ground:
        """Return what finds a quote in a transcript."""
        return partial(
            TranscriptIndex(transcript).ground,
            mode=self.quantitative.evidence_quote_validation_mode,
            fuzzy_threshold=self.quantitative.evidence_quote_fuzzy_threshold,
        )


def _settings_of(ledger: RunStore) -> _RecordedSettings:
    settings = RunFolder(ledger.folder).require_run().get("settings")
    try:
        return _RecordedSettings.model_validate(settings)
    except ValidationError:
        msg = f"{ledger.folder / 'run.json'} is damaged: its settings cannot be read"
        raise InputError(msg, field="RUN") from None
