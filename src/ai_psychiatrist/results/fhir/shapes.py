"""The shapes that resources of a bundle can have: nothing else is in them, and no other code."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from ai_psychiatrist.results.fhir import codes

Uuid: TypeAlias = Annotated[
    StrictStr, Field(pattern="^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
]
Instant: TypeAlias = Annotated[
    StrictStr, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$")
]
Text: TypeAlias = Annotated[StrictStr, Field(min_length=1)]
Number: TypeAlias = StrictInt | StrictFloat


class Shape(BaseModel):
    """A part of a resource, in which nothing unknown may be."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )


class Reference(Shape):
    """Where something else is."""

    reference: Text


class Extension(Shape):
    """One of the three that are used."""

    url: Literal[
        "http://hl7.org/fhir/StructureDefinition/ordinalValue",
        "http://hl7.org/fhir/StructureDefinition/alternate-reference",
        "http://hl7.org/fhir/StructureDefinition/data-absent-reason",
    ]
    value_code: Literal["unknown", "masked"] | None = Field(None, alias="valueCode")
    value_decimal: Number | None = Field(None, alias="valueDecimal")
    value_reference: Reference | None = Field(None, alias="valueReference")


class Extended(Shape):
    """What stands in the place of a value that is not there."""

    extension: Annotated[tuple[Extension, ...], Field(min_length=1)]


class Coding(Shape):
    """A code of a system."""

    system: Text
    code: Text
    display: Text | None = None
    extension: tuple[Extension, ...] = ()


class Concept(Shape):
    """Codes that say the same, the first of them in a system that is known here."""

    coding: Annotated[tuple[Coding, ...], Field(min_length=1)]
    text: Text | None = None

    def code_of(self, system: str) -> str | None:
        """Return the code of a system, `None` without one."""
        return next((one.code for one in self.coding if one.system == system), None)


class Words(Shape):
    """A text, as a note or a version has it."""

    text: Text


class Identifier(Shape):
    """A name of something in a system."""

    system: Text
    value: Text


class Limit(Shape):
    """One end of a range."""

    value: Number


class Range(Shape):
    """From the lowest to the highest."""

    low: Limit
    high: Limit


class Label(Coding):
    """Who asserts a resource."""

    system: Literal["http://terminology.hl7.org/CodeSystem/v3-ObservationValue"]
    code: Literal["AIAST"]


class Meta(Shape):
    """What is said of a resource as a whole."""

    security: Annotated[tuple[Label, ...], Field(min_length=1)]


class Observation(Shape):
    """A score, the total, or the level of danger."""

    resource_type: Literal["Observation"] = Field(alias="resourceType")
    meta: Meta | None = None
    status: Literal["preliminary", "final"]
    category: tuple[Concept, ...] = ()
    code: Concept
    subject: Reference | None = None
    issued: Instant | None = None
    performer: Annotated[tuple[Extended | Reference, ...], Field(min_length=1)]
    device: Reference
    value_concept: Concept | None = Field(None, alias="valueCodeableConcept")
    value_integer: StrictInt | None = Field(None, alias="valueInteger", ge=0, le=24)
    value_range: Range | None = Field(None, alias="valueRange")
    absent: Concept | None = Field(None, alias="dataAbsentReason")
    note: tuple[Words, ...] = ()
    derived_from: Annotated[tuple[Reference, ...], Field(alias="derivedFrom", min_length=1)]

    @property
    def own_code(self) -> str | None:
        """What it observes, in our own codes."""
        return self.code.code_of(codes.OWN)


class Attachment(Shape):
    """What a document would hold."""

    content_type: Literal["text/plain"] = Field(alias="contentType")
    url_absent: Extended = Field(alias="_url")


class Content(Shape):
    """The one content of a document."""

    attachment: Attachment


class Digest(Identifier):
    """The SHA-256 of a transcript."""

    system: Literal["urn:ietf:rfc:3986"]
    value: Annotated[StrictStr, Field(pattern="^nih:sha-256;[0-9a-f]{64}$")]


class DocumentReference(Shape):
    """The transcript without its words."""

    resource_type: Literal["DocumentReference"] = Field(alias="resourceType")
    digest: Digest | None = Field(None, alias="masterIdentifier")
    status: Literal["current"]
    subject: Reference | None = None
    description: Text
    content: Annotated[tuple[Content, ...], Field(min_length=1)]


class DeviceName(Shape):
    """What a program is called."""

    name: Text
    type: Literal["other"]


class Version(Shape):
    """Of which part a version is."""

    type: Words
    value: Text


class Property(Shape):
    """Which models answered, and how."""

    type: Concept
    value_code: Annotated[tuple[Words, ...], Field(alias="valueCode", min_length=1)]


class Device(Shape):
    """The program."""

    resource_type: Literal["Device"] = Field(alias="resourceType")
    status: Literal["active"]
    names: Annotated[tuple[DeviceName, ...], Field(alias="deviceName", min_length=1)]
    version: Annotated[tuple[Version, ...], Field(min_length=1)]
    properties: tuple[Property, ...] = Field((), alias="property")
    note: tuple[Words, ...] = ()


class Practitioner(Shape):
    """A rater, without a name."""

    resource_type: Literal["Practitioner"] = Field(alias="resourceType")
    identifier: Annotated[tuple[Identifier, ...], Field(min_length=1)]


class Agent(Shape):
    """Who did something, and in which part."""

    type: Concept
    who: Reference


class Entity(Shape):
    """What something was made of."""

    role: Literal["source"]
    what: Reference


class Provenance(Shape):
    """Who made or verified resources."""

    resource_type: Literal["Provenance"] = Field(alias="resourceType")
    target: Annotated[tuple[Reference, ...], Field(min_length=1)]
    recorded: Instant | None = None
    recorded_absent: Extended | None = Field(None, alias="_recorded")
    reason: tuple[Concept, ...] = ()
    agent: Annotated[tuple[Agent, ...], Field(min_length=1)]
    entity: tuple[Entity, ...] = ()


class Answer(Shape):
    """An answer of a list."""

    value_coding: Coding = Field(alias="valueCoding")


class Question(Shape):
    """One question of the form."""

    link_id: Text = Field(alias="linkId")
    text: Text
    answer: tuple[Answer, ...] = Field((), max_length=1)


class QuestionnaireResponse(Shape):
    """The form, filled in as far as scores go."""

    resource_type: Literal["QuestionnaireResponse"] = Field(alias="resourceType")
    meta: Meta | None = None
    questionnaire: Literal["http://loinc.org/q/44249-1"]
    status: Literal["in-progress"]
    subject: Reference | None = None
    author: Reference
    item: Annotated[tuple[Question, ...], Field(min_length=1)]


Resource: TypeAlias = Annotated[
    Observation | DocumentReference | Device | Practitioner | Provenance | QuestionnaireResponse,
    Field(discriminator="resource_type"),
]


class Entry(Shape):
    """A resource and its address."""

    full_url: Uuid = Field(alias="fullUrl")
    resource: Resource


class BundleShape(Shape):
    """All resources of an assessment."""

    resource_type: Literal["Bundle"] = Field(alias="resourceType")
    identifier: Identifier
    type: Literal["collection"]
    timestamp: Instant | None = None
    entry: Annotated[tuple[Entry, ...], Field(min_length=1)]
