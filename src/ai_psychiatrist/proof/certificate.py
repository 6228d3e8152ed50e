"""Make the certificate of a result: what each score stands on, in places and codes, no words."""

import hashlib
from collections.abc import Iterable
from typing import Final

from ai_psychiatrist import __version__
from ai_psychiatrist.agents.item_rules import READER_DIFFERS, check_item
from ai_psychiatrist.agents.output_models import ItemScoreOutput
from ai_psychiatrist.domain.assessment import Assessment, Certificate
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import Grounding, Quote, Segment
from ai_psychiatrist.domain.failures import UnreadPart
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item, UnknownReason
from ai_psychiatrist.domain.risk import RiskReport, RiskSignal
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.proof.rule_set import rule_set_digest
from ai_psychiatrist.proof.signing import Signer
from ai_psychiatrist.proof.verify import Refused, canonical, verify

_Fields = dict[str, object]
_VERSION: Final = 1
_UNFOUND: Final = "quote_in_transcript"
"""The rule that a quote breaks whose words are not in the transcript."""
_NOT_FROM_QUOTES: Final = frozenset({UnknownReason.NOT_EXAMINED, UnknownReason.UNCLEAR})
"""Why an item is unknown, where that does not follow from its quotes and the answer."""
_NO_RULES: Final = frozenset({*UnreadPart, READER_DIFFERS})
"""What of an answer could not be read, or the reader does not share, is no rule that it breaks."""


def certificate_of(
    result: Assessment, transcript: Transcript, *, signer: Signer | None = None
) -> Certificate:
    """Return the certificate of a result, checked as its receiver will check it.

    Raises `InputError` for a transcript that the result is not about.
    """
    signed_by = None if signer is None else signer.public_key
    fields = _without_fractions(_certificate(result, transcript) | {"signed_by": signed_by})
    certificate = canonical(fields)
    sha256 = hashlib.sha256(certificate).hexdigest()
    signature = None if signer is None else signer.sign(certificate)
    content = canonical({"certificate": fields, "sha256": sha256, "signature": signature})
    try:
        verify(transcript.text, content)
    except Refused as refused:
        msg = f"the result does not follow from this transcript: {refused}"
    else:
        return Certificate(sha256=sha256, signed_by=signed_by, text=content.decode())
    raise InputError(msg, field="transcript")


def _without_fractions(value: object) -> object:
    """Return a value with its fractions as texts, which have one canonical form."""
    match value:
        case dict():
            return {key: _without_fractions(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_without_fractions(inner) for inner in value]
        case float():
            return repr(value)
        case _:
            return value


def _certificate(result: Assessment, transcript: Transcript) -> _Fields:
    return {
        "version": _VERSION,
        "program": __version__,
        "result_schema": result.schema_version,
        "rules": rule_set_digest(),
        "prompts": dict(result.prompts),
        "models": {agent: list(each.answered_by) for agent, each in result.models.items()},
        "assessment_id": result.assessment_id,
        "mode": result.mode,
        "status": result.status.value,
        "failures": [f"{one.stage}.{one.code or one.category}" for one in result.failures],
        "transcript": _transcript(transcript),
        "scores": _scores(result, transcript),
        "danger": _danger(result.risk, transcript),
    }


def _transcript(transcript: Transcript) -> _Fields:
    turns = _spans(
        Segment(turn=turn.index, start=turn.words_start, end=turn.end)
        for turn in transcript.participant_turns()
    )
    return {
        "sha256": hashlib.sha256(transcript.text.encode()).hexdigest(),
        "turns": turns,
        "words": _words_digest(transcript, turns),
        "speakers_assumed": transcript.speakers_assumed,
    }


def _words_digest(transcript: Transcript, spans: list[dict[str, int]]) -> str:
    """Return a digest of words that only those who have the whole transcript can guess.

    A plain one of a few words could be found by trying; the key of this one is made of all.
    """
    words = " ".join(
        f"{span['turn']} {transcript.text[span['start'] : span['end']]}" for span in spans
    )
    key = hashlib.sha256(b"words of\0" + transcript.text.encode()).digest()
    return hashlib.blake2b(words.encode(), digest_size=32, key=key).hexdigest()


def _spans(segments: Iterable[Segment | RiskSignal]) -> list[dict[str, int]]:
    return [{"turn": one.turn, "start": one.start, "end": one.end} for one in segments]


def _scores(result: Assessment, transcript: Transcript) -> _Fields | None:
    part = result.quantitative
    if part is None:
        return None
    is_checked = result.grounding is not None and result.grounding.grounding is Grounding.CHECKED
    interval = part.total_interval
    return {
        "accepted": part.accepted,
        "quotes_checked": is_checked,
        "items": {
            key: _item(Item(key), item, transcript, is_checked=is_checked)
            for key, item in part.items.items()
        },
        "total": {
            "minimum": part.total_score_min,
            "maximum": part.total_score_max,
            "exact": part.total_score,
            "severity": part.severity,
            "severity_lower_bound": part.severity_lower_bound,
            "severity_upper_bound": part.severity_upper_bound,
            "interval": (
                None
                if interval is None
                else {"low": interval.low, "high": interval.high, "level": interval.level}
            ),
        },
    }


def _item(key: Item, item: ItemAssessment, transcript: Transcript, *, is_checked: bool) -> _Fields:
    return {
        "quotes": [_quote(quote, transcript) for quote in item.evidence],
        "allowed": _allowed(key, item.evidence) if is_checked else [],
        "reply": _reply(item),
        "rules": [name for name in item.warnings if name not in _NO_RULES],
        "score": item.score,
        "unknown_reason": item.unknown_reason,
        "belief": None if item.belief is None else item.belief.model_dump(),
    }


def _quote(quote: Quote, transcript: Transcript) -> _Fields:
    spans = _spans(quote.segments)
    return {
        "segments": spans,
        "words": _words_digest(transcript, spans),
        "match": quote.match.value,
        "relevance": quote.relevance.value,
        "polarity": quote.polarity.value,
        "frequency": quote.frequency.value,
        "timeframe": quote.timeframe.value,
        "is_plain": quote.is_plain,
    }


def _allowed(item: Item, quotes: tuple[Quote, ...]) -> list[int]:
    """Return the scores that the rules let stand on these quotes."""
    return [
        score
        for score in range(MAX_ITEM_SCORE + 1)
        if check_item(item, ItemScoreOutput(score=score), quotes, lambda _: True).reason_against(
            score, quotes
        )
        is None
    ]


def _reply(item: ItemAssessment) -> _Fields | None:
    if item.unknown_reason is UnknownReason.SCORING_FAILED:
        return None
    return {
        "score": item.proposed_score,
        "confidence": item.confidence,
        "has_reason": item.reason.strip() != "",
        "has_unfound_quote": _UNFOUND in item.warnings,
        "reader_differs": READER_DIFFERS in item.warnings,
        "why_none": item.unknown_reason if item.unknown_reason in _NOT_FROM_QUOTES else None,
    }


def _danger(risk: RiskReport, transcript: Transcript) -> _Fields:
    return {
        "level": risk.level.value,
        "signal_count": risk.signal_count,
        "turns_not_examined": risk.examined.count_not_examined,
        "signals": [
            {
                "segments": _spans([signal]),
                "words": _words_digest(transcript, _spans([signal])),
                "kind": signal.kind.value,
                "polarity": signal.polarity.value,
                "level": signal.level.value,
                "source": signal.source.value,
            }
            for signal in risk.signals
        ],
    }
