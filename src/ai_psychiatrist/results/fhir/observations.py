"""Observations: eight items, their total, and the signs of danger."""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Final

from ai_psychiatrist.domain.interview_items import ItemSource
from ai_psychiatrist.domain.phq8 import Item, ScoreTotals, UnknownReason, total_of
from ai_psychiatrist.domain.risk import RiskLevel, RiskSignal
from ai_psychiatrist.interview.interview_store import ReadInterview
from ai_psychiatrist.results.fhir import elements as codes
from ai_psychiatrist.results.fhir.elements import (
    Element,
    answer_of,
    asserted_by_software,
    coding,
    concept,
    note,
    reference,
)
from ai_psychiatrist.results.fhir.source import Source, instant
from ai_psychiatrist.results.page.words import spoken_of, words
from ai_psychiatrist.results.wording import danger_headline, signal_groups, unknown_words

_INFERRED: Final = "inferred from interview"
_ANSWERED: Final = "answered by the person when asked"


def observations(source: Source) -> Iterator[tuple[str, Element]]:
    """Yield address and resource of each."""
    for item in Item:
        yield source.own_url(item.value), _of_item(item, source)
    yield source.own_url(codes.TOTAL), _of_total(source)
    yield source.url(codes.DANGER), _of_danger(source)
    if source.interview is not None:
        yield from _of_interview(source, source.interview)
    yield from _danger_in_interviews(source)


def _of_item(item: Item, source: Source) -> Element:
    score = source.score(item)
    return {
        **_head(source, is_unchanged=score == source.program_score(item)),
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
    program = source.result.quantitative
    total = program if source.rated is None else total_of(source.rated.scores.values())
    value = _value_of_total(total)
    return {
        **_head(source, is_unchanged=value == _value_of_total(program)),
        "code": concept(
            coding(codes.OWN, codes.TOTAL, "PHQ-8 total"), text=f"PHQ-8 total: {_INFERRED}"
        ),
        **_said_by(source),
        **value,
        "derivedFrom": [reference(source.own_url(item.value)) for item in Item],
    }


def _of_danger(source: Source) -> Element:
    risk = source.result.risk
    # As people are shown them: by group, and by level within.
    signs = chain.from_iterable(signal_groups(risk.signals).values())
    said = map(_statement, signs if source.wanted.with_words else ())
    return {
        "resourceType": "Observation",
        "meta": asserted_by_software(),
        "status": "preliminary",
        "code": concept(
            coding(codes.OWN, codes.DANGER, "Signs of danger"), text=f"Signs of danger: {_INFERRED}"
        ),
        **_said_by_program(source),
        **_level(risk.level),
        "note": [note(text) for text in (risk.statement, danger_headline(risk), *said)],
        "derivedFrom": [reference(source.document)],
    }


def _of_interview(source: Source, found: ReadInterview) -> Iterator[tuple[str, Element]]:
    """Yield what the person has answered, and the total with it."""
    urls = {item: source.own_url(item.value) for item in Item}
    about = {**_said_by_program(source), "issued": _changed_at(found)}
    for one in found.items:
        if one.source not in {ItemSource.ANSWER, ItemSource.EARLIER_ANSWER} or one.score is None:
            continue
        urls[one.item] = source.url(f"{one.item.value}/interview")
        quote = one.quote if source.wanted.with_words else None
        yield (
            urls[one.item],
            {
                **_head(source, is_unchanged=True),
                "code": concept(
                    coding(codes.OWN, f"{one.item.value}-answered", one.item.label),
                    coding(codes.LOINC, codes.LOINC_OF_ITEM[one.item]),
                    text=f"{one.item.label}: {_ANSWERED}",
                ),
                **about,
                "issued": _changed_at(found.origin(one)),
                "valueCodeableConcept": _answer(one.score),
                **({} if quote is None else {"note": [note(quote.text)]}),
                "derivedFrom": [reference(source.interview_document)],
            },
        )
    text = "PHQ-8 total with the interview"
    yield (
        source.url(codes.TOTAL_WITH_INTERVIEW),
        {
            **_head(source, is_unchanged=True),
            "code": concept(coding(codes.OWN, codes.TOTAL_WITH_INTERVIEW, text), text=text),
            **about,
            **_value_of_total(found.total),
            "derivedFrom": [reference(url) for url in urls.values()],
        },
    )


def _danger_in_interviews(source: Source) -> Iterator[tuple[str, Element]]:
    """Yield the gravest level of what held interviews about the assessment."""
    held = [one for one in source.wanted.interviews if one.interview.danger is not None]
    levels = [one.interview.danger.level for one in held if one.interview.danger is not None]
    if not levels:
        return
    text = "Signs of danger in an interview"
    said = [
        f"asked: {one.question} answered: {one.sentence}"
        for found in (held if source.wanted.with_words else ())
        for one in found.statements
    ]
    yield (
        source.url(codes.DANGER_IN_INTERVIEW),
        {
            "resourceType": "Observation",
            "meta": asserted_by_software(),
            "status": "preliminary",
            "code": concept(coding(codes.OWN, codes.DANGER_IN_INTERVIEW, text), text=text),
            **_said_by_program(source),
            "issued": _changed_at(held[0]),
            **_level(max(levels, key=lambda level: level.rank)),
            **({"note": [note(one) for one in said]} if said else {}),
            "derivedFrom": [reference(source.interview_document)],
        },
    )


def _changed_at(found: ReadInterview) -> str:
    return instant(datetime.fromisoformat(found.listed.row.updated_at))


def _statement(signal: RiskSignal) -> str:
    """Return a statement with its question, in the words of the interview."""
    about = f"{words(signal.kind)}, {spoken_of(signal)}; turn {signal.turn + 1}"
    asked = "" if signal.question is None else f"asked: {signal.question} "
    return f"{words(signal.group)} ({about}): {asked}answered: {signal.sentence}"


def _head(source: Source, *, is_unchanged: bool) -> Element:
    label: Element = {"meta": asserted_by_software()} if is_unchanged else {}
    survey = concept(coding(codes.CATEGORY, "survey"))
    status = "preliminary" if source.rated is None else "final"
    return {"resourceType": "Observation", **label, "status": status, "category": [survey]}


def _said_by(source: Source) -> Element:
    """Return whom it is about, when it was said, and who vouches for it."""
    if source.rated is None:
        return _said_by_program(source)
    return {
        **source.about,
        "issued": instant(source.rated.at),
        "performer": [reference(source.rated.url)],
        "device": reference(source.device),
    }


def _said_by_program(source: Source) -> Element:
    device, made_at = reference(source.device), source.wanted.made_at
    performer = {"url": codes.ALTERNATE_REFERENCE, "valueReference": device}
    return {
        **source.about,
        **({} if made_at is None else {"issued": instant(made_at)}),
        "performer": [{"extension": [performer]}],
        "device": device,
    }


def _answer(score: int) -> Element:
    own = coding(codes.OWN_SCORE, str(score))
    return concept(own, answer_of(score), text=f"{score} ({codes.WORDS_OF_SCORE[score]})")


def _why(item: Item, source: Source) -> Element:
    if source.rated is not None:
        return _absent("unknown", codes.CANNOT_TELL, "the rater cannot tell")
    found = source.items.get(item)
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
    found = source.items.get(item) if source.rated is None else None
    if found is None or not source.wanted.with_words:
        return {}
    said = [quote.text for quote in found.evidence]
    if (unread := found.unread_answer) is not None:
        said.append(f"not read: asked: {unread.question} answered: {unread.answer}")
    return {"note": [note(text) for text in said]} if said else {}


def _value_of_total(total: ScoreTotals | None) -> Element:
    if total is None:
        return _unscored()
    if total.total_score is not None:
        return {"valueInteger": total.total_score}
    low, high = {"value": total.total_score_min}, {"value": total.total_score_max}
    return {"valueRange": {"low": low, "high": high}}


def _level(level: RiskLevel) -> Element:
    if level is RiskLevel.NOT_EXAMINED:
        return _absent("unsupported", level.value, "in a language that is not read")
    return {"valueCodeableConcept": concept(coding(codes.OWN_DANGER, level.value))}
