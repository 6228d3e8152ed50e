"""Observations: eight items, their total, and the signs of danger."""

from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.domain.phq8 import Item, TotalScore, UnknownReason, total_of
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.fhir import codes
from ai_psychiatrist.results.fhir.elements import (
    Element,
    about,
    answer_of,
    asserted_by_software,
    coding,
    concept,
    note,
    reference,
)
from ai_psychiatrist.results.fhir.source import Source, instant
from ai_psychiatrist.results.models import ItemResult
from ai_psychiatrist.results.page.words import words
from ai_psychiatrist.results.risk_result import RiskResult, RiskSignalResult
from ai_psychiatrist.results.wording import danger_headline, signal_groups, unknown_words

_INFERRED: Final = "inferred from interview"


def observations(source: Source) -> Iterator[tuple[str, Element]]:
    """Yield address and resource of each."""
    for item in Item:
        yield source.own_url(item.value), _of_item(item, source)
    yield source.own_url(codes.TOTAL), _of_total(source)
    yield source.url(codes.DANGER), _of_danger(source)


def score_of(item: Item, source: Source) -> int | None:
    """Return an item's score: the rater's where somebody has rated."""
    if source.rated is not None:
        return source.rated.scores.get(item)
    return _program_score(item, source)


def _of_item(item: Item, source: Source) -> Element:
    score = score_of(item, source)
    is_unchanged = source.rated is None or score == _program_score(item, source)
    return {
        **_head(source, is_unchanged=is_unchanged),
        "code": concept(
            coding(codes.OWN, item.value, item.label),
            coding(codes.LOINC, codes.LOINC_OF_ITEM[item]),
            text=f"{item.label}: {_INFERRED}",
        ),
        **_said_by(source),
        **({"valueCodeableConcept": _answer(score)} if score is not None else _why(item, source)),
        **_notes(item, source),
        "derivedFrom": [reference(source.document)],
    }


def _of_total(source: Source) -> Element:
    total, program = _total(source), _program_total(source)
    is_unchanged = source.rated is None or total == program
    return {
        **_head(source, is_unchanged=is_unchanged),
        "code": concept(
            coding(codes.OWN, codes.TOTAL, "PHQ-8 total"), text=f"PHQ-8 total: {_INFERRED}"
        ),
        **_said_by(source),
        **_value_of_total(total),
        "derivedFrom": [reference(source.own_url(item.value)) for item in Item],
    }


def _of_danger(source: Source) -> Element:
    risk = source.result.risk
    said = [_statement(one) for one in _in_groups(risk)] if source.wanted.with_words else []
    return {
        "resourceType": "Observation",
        "meta": asserted_by_software(),
        "status": "preliminary",
        "code": concept(
            coding(codes.OWN, codes.DANGER, "Signs of danger"), text=f"Signs of danger: {_INFERRED}"
        ),
        **about(source.wanted.subject),
        **_issued_when_made(source),
        **_by_program(source),
        **_level(risk.level),
        "note": [note(text) for text in (risk.statement, danger_headline(risk), *said)],
        "derivedFrom": [reference(source.document)],
    }


def _in_groups(risk: RiskResult) -> Iterator[RiskSignalResult]:
    """Yield the statements as people are shown them: by group, and by level within."""
    for group in signal_groups(risk.signals):
        yield from group.signals


def _statement(signal: RiskSignalResult) -> str:
    """Return a statement with its question, in the words of the interview."""
    about = f"{words(signal.kind)}, {words(signal.polarity)}; turn {signal.turn + 1}"
    asked = "" if signal.question is None else f"asked: {signal.question} "
    return f"{words(signal.group)} ({about}): {asked}answered: {signal.sentence}"


def _head(source: Source, *, is_unchanged: bool) -> Element:
    label: Element = {"meta": asserted_by_software()} if is_unchanged else {}
    survey = concept(coding(codes.CATEGORY, "survey"))
    status = "preliminary" if source.rated is None else "final"
    return {"resourceType": "Observation", **label, "status": status, "category": [survey]}


def _said_by(source: Source) -> Element:
    """Return whom it is about, when it was said, and who vouches for it."""
    if source.rated is None or source.practitioner is None:
        return {**about(source.wanted.subject), **_issued_when_made(source), **_by_program(source)}
    vouched = {"performer": [reference(source.practitioner)], "device": reference(source.device)}
    return {**about(source.wanted.subject), "issued": instant(source.rated.at), **vouched}


def _by_program(source: Source) -> Element:
    device = reference(source.device)
    performer = {"url": codes.ALTERNATE_REFERENCE, "valueReference": device}
    return {"performer": [{"extension": [performer]}], "device": device}


def _issued_when_made(source: Source) -> Element:
    made_at = source.wanted.made_at
    return {} if made_at is None else {"issued": instant(made_at)}


def _answer(score: int) -> Element:
    own = coding(codes.OWN_SCORE, str(score))
    return concept(own, answer_of(score), text=f"{score} ({codes.WORDS_OF_SCORE[score]})")


def _why(item: Item, source: Source) -> Element:
    if source.rated is not None:
        return _absent("unknown", codes.CANNOT_TELL, "the rater cannot tell")
    found = _item(item, source)
    if found is None or found.unknown_reason is None:
        return _unscored()
    code = codes.absent_of(found.unknown_reason, found.not_examined_cause)
    return _absent(code, found.unknown_reason.value, unknown_words(found, source.result))


def _unscored() -> Element:
    reason = UnknownReason.SCORING_FAILED
    return _absent(codes.absent_of(reason), reason.value, words(reason))


def _absent(code: str, own: str, text: str) -> Element:
    codings = (coding(codes.ABSENT, code), coding(codes.OWN_REASON, own))
    return {"dataAbsentReason": concept(*codings, text=text)}


def _notes(item: Item, source: Source) -> Element:
    """Return the quotes that carry the program's score; a rater's stands on the rater's reading."""
    found = _item(item, source) if source.rated is None else None
    if found is None or not source.wanted.with_words:
        return {}
    said = [quote.text for quote in found.evidence]
    if (unread := found.unread_answer) is not None:
        said.append(f"not read: asked: {unread.question} answered: {unread.answer}")
    return {"note": [note(text) for text in said]} if said else {}


def _value_of_total(total: TotalScore | None) -> Element:
    if total is None:
        return _unscored()
    if total.exact is not None:
        return {"valueInteger": total.exact}
    return {"valueRange": {"low": {"value": total.minimum}, "high": {"value": total.maximum}}}


def _level(level: RiskLevel) -> Element:
    if level is RiskLevel.NOT_EXAMINED:
        return _absent("unsupported", level.value, "in a language that is not read")
    return {"valueCodeableConcept": concept(coding(codes.OWN_DANGER, level.value))}


def _total(source: Source) -> TotalScore | None:
    if source.rated is None:
        return _program_total(source)
    return total_of(source.rated.scores.get(item) for item in Item)


def _program_total(source: Source) -> TotalScore | None:
    scores = source.result.quantitative
    if scores is None or scores.items is None:
        return None
    return total_of(_program_score(item, source) for item in Item)


def _program_score(item: Item, source: Source) -> int | None:
    found = _item(item, source)
    return None if found is None else found.score


def _item(item: Item, source: Source) -> ItemResult | None:
    scores = source.result.quantitative
    return None if scores is None or scores.items is None else scores.items.get(item.value)
