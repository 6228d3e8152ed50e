"""An assessment: what callers get, what is stored and what every report is made from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, Literal

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.failures import Attempt, FailureRecord
from ai_psychiatrist.domain.items import PHQ8Assessment, QuoteGrounding
from ai_psychiatrist.domain.narrative import MetaReview, NarrativeEvaluation, QualitativeAssessment
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.domain.transcript import TranscriptAccount

SCHEMA_VERSION: Final = "5"
NOTICE: Final = (
    "For research and engineering. Not a medical device, not a diagnosis, and no substitute for "
    "the judgement of a clinician."
)
BASELINE_NOTICE: Final = (
    "Made by a rule baseline: fixed phrase rules, not a language model and not a clinical "
    "instrument."
)


class AssessmentMode(StrEnum):
    """What the scoring prompt contains besides the transcript."""

    ZERO_SHOT = "zero_shot"
    """Nothing."""
    FEW_SHOT = "few_shot"
    """Scored examples of other participants that are like the evidence."""
    RANDOM_REFERENCES = "random_references"
    """Scored examples of other participants, drawn by chance."""
    DESCRIPTIONS_ONLY = "descriptions_only"
    """What each item is about, in more words, and no example."""

    @property
    def shows_references(self) -> bool:
        """Whether scored examples of other participants are needed."""
        return self in {AssessmentMode.FEW_SHOT, AssessmentMode.RANDOM_REFERENCES}

    @classmethod
    def named(cls, name: str) -> "AssessmentMode":
        """Return the mode of a name, in which `-` may stand for `_`; raises `InputError`."""
        wanted = name.strip().casefold().replace("-", "_")
        for mode in cls:
            if mode == wanted:
                return mode
        msg = f"mode has to be {', '.join(list(cls)[:-1])} or {list(cls)[-1]}"
        raise InputError(msg, field="mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """The options of a caller for the scoring of items."""

    mode: AssessmentMode = AssessmentMode.ZERO_SHOT
    ablates: bool = False
    """Whether to score again with the evidence changed, to tell whether it drives the scores."""
    participant: int | str | None = None
    """Whose references are never shown, and with the next those of whoever said the same words."""
    session: str | None = None


DEFAULT_SCORING: Final = ScoringOptions()
"""No options but those of the settings."""


class AssessmentStatus(StrEnum):
    """How much of an assessment finished."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AgentModels(Shape):
    """Which models an agent may ask, and which answered."""

    chain: tuple[str, ...]
    """The models that may be asked, in the order in which they are."""
    answered_by: tuple[str, ...]
    """Those of them whose answer was accepted."""
    rule_baseline: bool
    """True when an answer came from the rule baseline."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Certificate(Shape):
    """What a result says in places and codes, without words, for others to derive it again."""

    sha256: str
    """Digest of what the certificate says; whoever checks it has to know it, or the key."""
    signed_by: str | None
    """Ed25519 public key in hexadecimal; null where no key is set."""
    text: str
    """The certificate itself, in canonical JSON: to be kept as it is, byte for byte."""

    def shown(self) -> Iterator[tuple[str, object]]:
        """Yield the digest and the key, which hold no words."""
        yield "sha256", self.sha256
        yield "signed_by", self.signed_by


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Account(Shape):
    """What an assessment says about itself, whichever of its parts are wanted."""

    assessment_id: str
    """Made for each assessment; log lines carry it."""
    schema_version: Literal["5"] = SCHEMA_VERSION
    """The shape of the result."""
    status: AssessmentStatus
    """How much of it finished."""
    risk: RiskReport
    """Signs of danger, whatever else finished."""
    notice: str = NOTICE
    """What the result is not."""
    participant_id: int | None
    """Whose stored transcript was assessed; null for one that was sent."""
    mode: AssessmentMode
    """What scoring saw beside the transcript."""
    speakers_assumed: bool
    """True when the transcript has no speaker labels, so that all of it counts as the patient's."""
    transcript: TranscriptAccount
    """How the transcript was read."""
    models: Mapping[str, AgentModels]
    """Agent → its models."""
    prompts: Mapping[str, str]
    """Prompt name → digest of its wording."""
    references: str | None = None
    """Digest of all references that there were to show; null in a mode that shows none."""
    grounding: QuoteGrounding | None
    """How many quotes held; null where none were extracted."""
    hosts: tuple[str, ...]
    """Where words of the transcript were sent, as `host:port` of the addresses: servers of models
    and embedders, whether or not they answered, and a proxy that could read the words. Empty where
    none left this process."""
    attempts: tuple[Attempt, ...]
    """Every call of a model, in order."""
    failures: tuple[FailureRecord, ...]
    """What is missing, and why."""
    transcript_text: str | None
    """The text that offsets count in, where it was made from a file; null for a text as sent."""
    certificate: Certificate | None = None
    """Null unless it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Assessment(Account):
    """An assessment; a part that has no result is null and listed in failures."""

    quantitative: PHQ8Assessment | None
    """The item scores; null where they did not finish."""
    qualitative: QualitativeAssessment | None
    """The narrative; null where it did not finish."""
    evaluation: NarrativeEvaluation | None
    """How the narrative was judged; null where it was not."""
    meta_review: MetaReview | None
    """The severity read from everything; null where it did not finish."""

    as_html: "ClassVar[Callable[[Assessment], str] | None]" = None
    """Writes an assessment for notebooks; set by what makes pages of results."""

    def _repr_html_(self) -> str | None:
        """Return a table for a notebook, without anybody's words: notebooks are kept and shared."""
        write = type(self).as_html
        return None if write is None else write(self)

    def shown(self) -> Iterator[tuple[str, object]]:
        """Yield what is asked of a result first; its parts show the rest."""
        yield "status", self.status.value
        if self.quantitative is not None:
            yield from self.quantitative.shown_total()
        yield "danger", self.risk.level.value
        yield "failures", len(self.failures)
        yield "assessment_id", self.assessment_id
