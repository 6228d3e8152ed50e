"""Check the agents' kept replies again: read as the agents read them, judged by a contract."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel, ConfigDict, ValidationError

from ai_psychiatrist.agents.contracts.contract import contract_steps, step_of_agent
from ai_psychiatrist.agents.contracts.item_check import item_verdict
from ai_psychiatrist.agents.definition import (
    AGENT_ORDER,
    DANGER,
    EVIDENCE,
    JUDGE,
    META_REVIEW,
    QUALITATIVE,
    QUANTITATIVE,
)
from ai_psychiatrist.agents.output_models import QuantitativeOutput
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import Quote, UnverifiedQuote
from ai_psychiatrist.domain.failure_stages import stage_of_code
from ai_psychiatrist.domain.failures import FailureStage, RejectionCode
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.runs.folder import RunFolder
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.llm.output import ModelOutput
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.transcripts.labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.validation.checks.step import StepValidator
from ai_psychiatrist.validation.checks.verdict import UnitError, Verdict
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

Extract = Callable[[str], ModelOutput]
Ground = Callable[[str], Quote | UnverifiedQuote]

_EXTRACTS: Mapping[str, Extract] = {
    QUALITATIVE.name: QUALITATIVE.extract,
    EVIDENCE.name: EVIDENCE.extract,
    QUANTITATIVE.name: QUANTITATIVE.extract,
    **{definition.name: definition.extract for definition in JUDGE.values()},
    META_REVIEW.name: META_REVIEW.extract,
    DANGER.name: DANGER.extract,
}


def checkers_for(ledger: Ledger, contract: PipelineConfig) -> dict[str, "ReplyChecker"]:
    """Return the checks of the run's agents' replies by a contract, such as the run's own.

    Quotes are checked as the run's settings say. Raises `ConfigurationError` when a step's schema
    or rules cannot be compiled, and `InputError` when the folder's record of the run is damaged.
    """
    steps = contract_steps(contract)
    reading = _reading_of(ledger)
    checkers = {}
    for agent in AGENT_ORDER:
        if agent not in ledger.steps:
            continue
        checker: ReplyChecker = ReplyChecker(_EXTRACTS[agent], steps[step_of_agent(agent)])
        if agent == QUANTITATIVE.name:
            checker = ScoringChecker(
                _EXTRACTS[agent], steps[agent], steps["item"], ledger=ledger, reading=reading
            )
        checkers[agent] = checker
    return checkers


class ReplyChecker:
    """Reads a reply as its agent does and checks the object by the contract's step."""

    def __init__(self, extract: Extract, step: StepValidator) -> None:
        self.ruleset_digest = step.ruleset_digest
        self.schema_digest = step.schema_digest
        self._extract = extract
        self._step = step

    def check(self, unit_id: str, raw: str, context: bytes | None) -> Verdict:
        """Return what becomes of a reply; `context` is the transcript's text."""
        try:
            output = self._extract(raw)
        except ReplyRejected as rejection:
            return _refused(rejection)
        verdict = self._step.check_object(output.model_dump(mode="json"))
        verdict = replace(verdict, repaired=output.repaired)
        if not verdict.is_valid:
            return verdict
        return self.check_further(verdict, output, unit_id, context)

    def check_further(
        self,
        verdict: Verdict,
        output: ModelOutput,  # noqa: ARG002  for checkers that look at more
        unit_id: str,  # noqa: ARG002
        context: bytes | None,  # noqa: ARG002
    ) -> Verdict:
        """Return the verdict on an object that passed schema and rules of its own step."""
        return verdict


class ScoringChecker(ReplyChecker):
    """Also applies the rules of single items, which read the quotes that were found."""

    def __init__(
        self,
        extract: Extract,
        step: StepValidator,
        item_step: StepValidator,
        *,
        ledger: Ledger,
        reading: "RunReading",
    ) -> None:
        super().__init__(extract, step)
        self.ruleset_digest = f"{step.ruleset_digest}+{item_step.ruleset_digest}"
        self._item_step = item_step
        self._ledger = ledger
        self._reading = reading

    def check_further(
        self, verdict: Verdict, output: ModelOutput, unit_id: str, context: bytes | None
    ) -> Verdict:
        """Apply the item rules; those that a model insisted against are warnings, as in the run."""
        is_checked = self._reading.quotes.evidence_quote_validation_enabled
        if not isinstance(output, QuantitativeOutput) or context is None or not is_checked:
            return verdict
        ground = self._reading.grounding(context.decode("utf-8", "surrogatepass"))
        evidence = self._evidence(unit_id)
        found = [
            _with_place(
                key,
                item_verdict(
                    Item(key),
                    answer,
                    _quotes(ground, [*answer.evidence, *evidence.get(key, ())]),
                    lambda text: isinstance(ground(text), Quote),
                    step=self._item_step,
                ),
            )
            for key, answer in output.items.items()
        ]
        errors = tuple(error for item in found for error in item.errors)
        warnings = tuple(warning for item in found for warning in item.warnings)
        if errors and not self._was_sent_back(unit_id):
            return replace(
                verdict,
                stage=FailureStage.VALIDATION,
                errors=errors,
                warnings=(*verdict.warnings, *warnings),
            )
        return replace(verdict, warnings=(*verdict.warnings, *errors, *warnings))

    def _evidence(self, unit_id: str) -> Mapping[str, Sequence[str]]:
        accepted = [
            attempt.output
            for attempt in self._ledger.history(unit_id, EVIDENCE.name)
            if attempt.stage is None and attempt.output is not None
        ]
        quotes = accepted[-1].get("quotes") if accepted else None
        return quotes if isinstance(quotes, dict) else {}

    def _was_sent_back(self, unit_id: str) -> bool:
        """Return whether the model was told of broken rules before its last reply."""
        history = self._ledger.history(unit_id, QUANTITATIVE.name)
        return any(
            error.get("rule") == RejectionCode.RULE_BROKEN
            for attempt in history[:-1]
            for error in attempt.errors
        )


def _refused(rejection: ReplyRejected) -> Verdict:
    stage = stage_of_code(rejection.code)
    error = UnitError(rule=rejection.code.value, message=str(rejection))
    return Verdict(value=None, stage=stage, errors=(error,))


def _with_place(key: str, verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        errors=[replace(error, parts=("items", key, *error.parts)) for error in verdict.errors],
        warnings=[replace(one, parts=("items", key, *one.parts)) for one in verdict.warnings],
    )


def _quotes(ground: Ground, texts: Sequence[str]) -> list[Quote]:
    grounded = (ground(text) for text in dict.fromkeys(texts))
    found = {quote.segments: quote for quote in grounded if isinstance(quote, Quote)}
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReading:
    """How a run reads transcripts and checks quotes."""

    quotes: QuantitativeSettings
    labels: SpeakerLabels

    def grounding(self, text: str) -> Ground:
        """Return what finds a quote in a transcript."""
        index = TranscriptIndex(parse_transcript(text, self.labels))
        return partial(
            index.ground,
            mode=self.quotes.evidence_quote_validation_mode,
            fuzzy_threshold=self.quotes.evidence_quote_fuzzy_threshold,
        )


def _reading_of(ledger: Ledger) -> RunReading:
    settings = RunFolder(ledger.folder).require_run().get("settings")
    try:
        record = _RecordedSettings.model_validate(settings)
    except ValidationError:
        msg = f"{ledger.folder / 'run.json'} is damaged: its settings cannot be read"
        raise InputError(msg, field="RUN") from None
    return RunReading(
        quotes=record.quantitative,
        labels=SpeakerLabels(
            interviewer=record.transcript.interviewer_labels,
            participant=record.transcript.participant_labels,
        ),
    )


class _RecordedLabels(BaseModel):
    participant_labels: tuple[str, ...] = ()
    interviewer_labels: tuple[str, ...] = ()


class _RecordedSettings(BaseModel):
    """The part of a run's record that decides how replies are checked."""

    model_config = ConfigDict(hide_input_in_errors=True)

    quantitative: QuantitativeSettings
    transcript: _RecordedLabels
