"""Where the observations come from: the transcript, the program, the rater, and who did what."""

from collections.abc import Iterable, Iterator
from typing import Final

from ai_psychiatrist import __version__
from ai_psychiatrist.results.fhir import elements as codes
from ai_psychiatrist.results.fhir.elements import (
    Element,
    absent_element,
    coding,
    concept,
    note,
    reference,
)
from ai_psychiatrist.results.fhir.source import Rated, Source, instant
from ai_psychiatrist.results.reading import program_of

_TRANSCRIPT: Final = "Transcript of the interview; its words are not here"
_INTERVIEW: Final = "Interview with the person about unknown items; its words are not here"
_ASSESSED: Final = "assessed"
_VERIFIED: Final = "verified"


def origins(source: Source) -> Iterator[tuple[str, Element]]:
    """Yield address and resource of transcript and program, and of the rater where one rated."""
    yield source.document, _document(source, _TRANSCRIPT, source.transcript_sha256)
    if source.wanted.interviews:
        yield source.interview_document, _document(source, _INTERVIEW)
    yield source.device, _device(source)
    if source.rated is not None:
        yield source.rated.url, _practitioner(source.rated)


def provenances(
    source: Source, observed: Iterable[tuple[str, Element]]
) -> Iterator[tuple[str, Element]]:
    """Yield who made the observations at these addresses, and who verified them."""
    listed = tuple(observed)
    by_program = [url for url, one in listed if "meta" in one]
    yield source.own_url(_ASSESSED), _assessed(source, by_program)
    if source.rated is not None:
        by_rater = [url for url, one in listed if one["status"] != "preliminary"]
        yield source.own_url(_VERIFIED), _verified(source.rated, by_rater)


def _document(source: Source, description: str, digest: str | None = None) -> Element:
    known: Element = (
        {}
        if digest is None
        else {"masterIdentifier": {"system": codes.URI, "value": f"nih:sha-256;{digest}"}}
    )
    return {
        "resourceType": "DocumentReference",
        **known,
        "status": "current",
        **source.about,
        "description": description,
        "content": [
            {"attachment": {"contentType": "text/plain", "_url": absent_element("masked")}}
        ],
    }


def _device(source: Source) -> Element:
    result = source.result
    models = {
        agent: sorted(model.answered_by)
        for agent, model in sorted(result.models.items())
        if model.answered_by
    }
    return {
        "resourceType": "Device",
        "status": "active",
        "deviceName": [{"name": "AI Psychiatrist", "type": "other"}],
        "version": [
            *_made_by(program_of(result)),
            {"type": {"text": "software that wrote this bundle"}, "value": __version__},
            {"type": {"text": "schema of the result"}, "value": result.schema_version},
        ],
        "property": [
            *(_property(f"models:{agent}", names) for agent, names in models.items()),
            _property("mode", [result.mode]),
        ],
        "note": [note(result.notice)],
    }


def _made_by(program: str | None) -> list[Element]:
    if program is None:
        return []
    return [{"type": {"text": "software that made the assessment"}, "value": program}]


def _property(name: str, values: list[str]) -> Element:
    shown = [note(value) for value in values]
    return {"type": concept(coding(codes.OWN_DEVICE, name)), "valueCode": shown}


def _practitioner(rated: Rated) -> Element:
    identifier = {"system": codes.RATER, "value": rated.rater}
    return {"resourceType": "Practitioner", "identifier": [identifier]}


def _assessed(source: Source, targets: list[str]) -> Element:
    made_at = source.wanted.made_at
    recorded: Element = (
        {"_recorded": absent_element("unknown")}
        if made_at is None
        else {"recorded": instant(made_at)}
    )
    return {
        "resourceType": "Provenance",
        "target": [reference(url) for url in targets],
        **recorded,
        "reason": [concept(coding(codes.ASSERTED_BY, codes.BY_SOFTWARE))],
        "agent": [_agent("assembler", source.device)],
        "entity": [
            {"role": "source", "what": reference(url)}
            for url in (
                source.document,
                *((source.interview_document,) if source.wanted.interviews else ()),
            )
        ],
    }


def _verified(rated: Rated, targets: list[str]) -> Element:
    return {
        "resourceType": "Provenance",
        "target": [reference(url) for url in targets],
        "recorded": instant(rated.at),
        "agent": [_agent("verifier", rated.url)],
    }


def _agent(role: str, who: str) -> Element:
    return {"type": concept(coding(codes.AGENT_TYPE, role)), "who": reference(who)}
