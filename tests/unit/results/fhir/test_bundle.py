import hashlib
import json
from dataclasses import replace
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.fhir_bundles import faults_of
from tests.fakes.full_results import (
    AT,
    DIGEST,
    EXAMPLE,
    Given,
    example_result,
    result_with,
    rows_of,
)

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.infrastructure.digests import using_installation_key
from ai_psychiatrist.results.fhir.bundle import bundle_of, bytes_of
from ai_psychiatrist.results.fhir.elements import Element
from ai_psychiatrist.results.fhir.source import BundleOptions

OWN = "urn:ai-psychiatrist:code:observation"
ALL_SCORED: list[Given] = [0, 1, 2, 3, 0, 1, 2, 3]
ALL_UNKNOWN: list[Given] = [UnknownReason.NO_MENTION] * 8

ITEMS = st.lists(st.integers(0, 3) | st.sampled_from(UnknownReason), min_size=8, max_size=8)
SCORES = st.lists(st.none() | st.integers(0, 3), min_size=8, max_size=8)


@pytest.fixture(scope="session")
def official(public_data: Path) -> jsonschema_rs.Validator:
    """The schema of FHIR R4 as HL7 publishes it."""
    schema = json.loads((public_data / "fhir" / "fhir_r4.schema.json").read_bytes())
    return jsonschema_rs.validator_for(schema)


def parsed(bundle: Element) -> dict[str, list[dict[str, object]]]:
    """Return the resources of a bundle by their type, as somebody who reads its bytes has them."""
    found: dict[str, list[dict[str, object]]] = {}
    for entry in json.loads(bytes_of(bundle))["entry"]:
        found.setdefault(entry["resource"]["resourceType"], []).append(entry["resource"])
    return found


def observed(bundle: Element, code: str) -> dict[str, object]:
    """Return the one observation with a code of ours."""
    found = [
        one
        for one in json.loads(json.dumps(parsed(bundle)["Observation"]))
        if {"system": OWN, "code": code}.items() <= one["code"]["coding"][0].items()
    ]
    assert len(found) == 1
    return dict(found[0])


def bundle_with(result: Assessment, wanted: BundleOptions | None = None) -> Element:
    return bundle_of(result, transcript_sha256=DIGEST, wanted=wanted or BundleOptions())


def test_an_item_says_its_score_in_our_code_and_in_that_of_loinc() -> None:
    sleep = observed(bundle_with(result_with(ALL_SCORED)), "PHQ8_Sleep")
    assert sleep["status"] == "preliminary"
    assert sleep["meta"] == {
        "security": [
            {
                "system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue",
                "code": "AIAST",
            }
        ]
    }
    code = json.loads(json.dumps(sleep["code"]))
    assert code["coding"][1] == {"system": "http://loinc.org", "code": "44259-0"}
    assert "inferred from interview" in code["text"]
    value = json.loads(json.dumps(sleep["valueCodeableConcept"]))
    assert [one["code"] for one in value["coding"]] == ["2", "LA6570-1"]
    assert value["coding"][1]["extension"][0]["valueDecimal"] == 2
    assert "dataAbsentReason" not in sleep


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (UnknownReason.NO_MENTION, "unknown"),
        (UnknownReason.NOT_EXAMINED, "unsupported"),
        (UnknownReason.SCORING_FAILED, "error"),
    ],
)
def test_an_unknown_item_says_why_and_has_no_value(reason: UnknownReason, code: str) -> None:
    items: list[Given] = [reason, *ALL_SCORED[1:]]
    found = observed(bundle_with(result_with(items)), "PHQ8_NoInterest")
    absent = json.loads(json.dumps(found["dataAbsentReason"]))
    assert [one["code"] for one in absent["coding"]] == [code, reason.value]
    assert not any(name.startswith("value") for name in found)


def test_the_total_is_a_number_when_all_is_known_and_a_range_when_not() -> None:
    known = observed(bundle_with(result_with(ALL_SCORED)), "phq8-total")
    assert known["valueInteger"] == 12
    unknown: list[Given] = [UnknownReason.NO_MENTION, *ALL_SCORED[1:]]
    found = observed(bundle_with(result_with(unknown)), "phq8-total")
    assert found["valueRange"] == {"low": {"value": 12}, "high": {"value": 15}}
    assert "http://loinc.org" not in json.dumps(found)


def test_a_failed_scoring_gives_eight_unknown_items_and_no_total() -> None:
    bundle = bundle_with(result_with(None))
    for code in (*(item.value for item in Item), "phq8-total"):
        absent = json.dumps(observed(bundle, code)["dataAbsentReason"])
        assert '"error"' in absent
        assert '"scoring_failed"' in absent


def test_danger_has_a_level_or_says_that_the_language_is_not_read() -> None:
    high = observed(bundle_with(result_with(ALL_SCORED, level=RiskLevel.HIGH)), "danger-signs")
    assert '"high"' in json.dumps(high["valueCodeableConcept"])
    unread = result_with(ALL_SCORED, level=RiskLevel.NOT_EXAMINED)
    assert '"unsupported"' in json.dumps(
        observed(bundle_with(unread), "danger-signs")["dataAbsentReason"]
    )


def test_the_transcript_is_a_digest_and_its_words_are_nowhere() -> None:
    result = example_result()
    assert result.quantitative is not None
    digest = hashlib.sha256(EXAMPLE.read_bytes()).hexdigest()
    bundle = bundle_of(result, transcript_sha256=digest)
    document = parsed(bundle)["DocumentReference"][0]
    assert document["masterIdentifier"] == {
        "system": "urn:ietf:rfc:3986",
        "value": f"nih:sha-256;{digest}",
    }
    written = bytes_of(bundle).decode()
    quotes = {quote.text for item in result.quantitative.items.values() for quote in item.evidence}
    assert quotes
    assert not [quote for quote in quotes if quote in written]
    with_words = bytes_of(
        bundle_of(result, transcript_sha256=digest, wanted=BundleOptions(with_words=True))
    )
    found = [
        quote for quote in quotes if json.dumps(quote, ensure_ascii=False) in with_words.decode()
    ]
    assert set(found) == quotes


def test_words_have_only_characters_that_fhir_has_room_for(
    official: jsonschema_rs.Validator,
) -> None:
    fields = example_result().model_dump()
    items = fields["quantitative"]["items"].values()
    first = next(quote for item in items for quote in item["evidence"])
    first["text"] = "a\x00b\x0bc\x1b[31m d\x85e\u2028f\xa0g\u3000h 😴 é\tz"
    fields["models"]["quantitative"] = {
        **next(iter(fields["models"].values())),
        "answered_by": ["a\x07\xa0model"],
    }
    result = Assessment.model_validate_json(json.dumps(fields))
    bundle = bundle_with(result, BundleOptions(with_words=True))
    official.validate(json.loads(bytes_of(bundle)))
    notes = [one["note"] for one in parsed(bundle)["Observation"] if "note" in one]
    assert "a\ufffdb c\ufffd[31m d e f g h 😴 é\tz" in json.dumps(
        notes, ensure_ascii=False
    ).replace("\\t", "\t")


def test_nobody_is_named_unless_a_subject_is_given() -> None:
    assert '"subject"' not in bytes_of(bundle_with(result_with(ALL_SCORED))).decode()
    named = bundle_with(
        result_with(ALL_SCORED), BundleOptions(subject="Patient/17", questionnaire=True)
    )
    whole = parsed(named)
    subjects = [
        one.get("subject")
        for kind in ("Observation", "DocumentReference", "QuestionnaireResponse")
        for one in whole[kind]
    ]
    assert subjects == [{"reference": "Patient/17"}] * 12


def test_a_study_id_is_an_identifier_beside_the_reference(
    official: jsonschema_rs.Validator,
) -> None:
    wanted = BundleOptions(subject="Patient/17", study_id="P\x0717", questionnaire=True)
    bundle = bundle_with(result_with(ALL_SCORED), wanted)
    official.validate(json.loads(bytes_of(bundle)))
    (asked,) = parsed(bundle)["QuestionnaireResponse"]
    assert asked["subject"] == {
        "reference": "Patient/17",
        "identifier": {"system": "urn:ai-psychiatrist:subject", "value": "P\ufffd17"},
    }


def test_the_same_input_gives_the_same_bytes_and_another_assessment_other_addresses() -> None:
    result = result_with(ALL_SCORED)
    first = bytes_of(bundle_with(result, BundleOptions(made_at=AT)))
    assert first == bytes_of(bundle_with(result, BundleOptions(made_at=AT)))
    other = replace(result, assessment_id="00000000-0000-4000-8000-000000000000")
    urls = {entry["fullUrl"] for entry in json.loads(first)["entry"]}
    others = {entry["fullUrl"] for entry in json.loads(bytes_of(bundle_with(other)))["entry"]}
    assert not urls & others


def test_a_time_that_nobody_knows_is_said_to_be_unknown() -> None:
    unknown = parsed(bundle_with(result_with(ALL_SCORED)))["Provenance"][0]
    assert "recorded" not in unknown
    assert '"unknown"' in json.dumps(unknown["_recorded"])
    known = parsed(bundle_with(result_with(ALL_SCORED), BundleOptions(made_at=AT)))["Provenance"][0]
    assert known["recorded"] == "2026-03-04T05:06:07.000Z"


def test_a_questionnaire_response_is_there_on_request_alone_and_never_complete() -> None:
    assert "QuestionnaireResponse" not in parsed(bundle_with(result_with(ALL_SCORED)))
    items: list[Given] = [UnknownReason.NO_MENTION, *ALL_SCORED[1:]]
    asked = parsed(bundle_with(result_with(items), BundleOptions(questionnaire=True)))
    (form,) = json.loads(json.dumps(asked["QuestionnaireResponse"]))
    assert form["status"] == "in-progress"
    assert "source" not in form
    assert [item["linkId"] for item in form["item"]][:2] == ["/44250-9", "/44255-8"]
    assert "answer" not in form["item"][0]
    assert form["item"][3]["answer"][0]["valueCoding"]["code"] == "LA6571-9"


def test_a_rating_is_final_and_keeps_the_label_only_where_nothing_changed() -> None:
    rows = rows_of("local:anna", [0, 1, 2, 3, 0, 1, 2, 2], changed={Item.NO_INTEREST: None})
    with using_installation_key(b"k" * 32):
        bundle = bundle_of(result_with(ALL_SCORED), transcript_sha256=DIGEST, ratings=rows)
    whole = parsed(bundle)
    labelled = [one["status"] for one in whole["Observation"] if "meta" in one]
    assert labelled == ["final"] * 6 + ["preliminary"]
    changed = observed(bundle, "PHQ8_NoInterest")
    assert "rater_cannot_tell" in json.dumps(changed["dataAbsentReason"])
    assert changed["issued"] == "2026-03-04T05:06:07.000Z"
    assert observed(bundle, "phq8-total")["valueRange"] == {
        "low": {"value": 11},
        "high": {"value": 14},
    }
    roles = [json.dumps(one["agent"]) for one in whole["Provenance"]]
    assert ["assembler" in roles[0], "verifier" in roles[1]] == [True, True]
    assert "anna" not in bytes_of(bundle).decode()


def test_several_raters_have_a_bundle_each() -> None:
    said = (), rows_of("key-1", [0] * 8), rows_of("key-2", [3] * 8)
    result = result_with(ALL_SCORED)
    with using_installation_key(b"k" * 32):
        bundles = [bundle_of(result, transcript_sha256=DIGEST, ratings=rows) for rows in said]
        with pytest.raises(ValueError, match="several raters"):
            bundle_of(result, transcript_sha256=DIGEST, ratings=(*said[1], *said[2]))
    totals = [observed(bundle, "phq8-total")["valueInteger"] for bundle in bundles]
    assert totals == [12, 0, 24]
    raters = [parsed(bundle).get("Practitioner", [{}])[0].get("identifier") for bundle in bundles]
    assert raters[0] is None
    assert raters[1] != raters[2]


def test_what_a_rater_has_not_committed_counts_for_nothing() -> None:
    rows = rows_of("key-1", [0] * 8, changed={Item.SLEEP: 3})[1:]
    bundle = bundle_of(result_with(ALL_SCORED), transcript_sha256=DIGEST, ratings=rows)
    assert bundle == bundle_with(result_with(ALL_SCORED))


@st.composite
def bundles(draw: st.DrawFn) -> Element:
    """Draw a bundle of anything: all known, all unknown, some of each, failed; rated or not."""
    wanted = BundleOptions(
        made_at=draw(st.none() | st.just(AT)),
        subject=draw(st.none() | st.just("Patient/17")),
        with_words=draw(st.booleans()),
        questionnaire=draw(st.booleans()),
    )
    items = draw(st.just(ALL_UNKNOWN) | st.just(ALL_SCORED) | ITEMS | st.none())
    rating = draw(st.none() | SCORES)
    return bundle_of(
        result_with(items, level=draw(st.sampled_from(RiskLevel))),
        transcript_sha256=draw(st.none() | st.just(DIGEST)),
        ratings=() if rating is None else rows_of("key-1", rating),
        wanted=wanted,
    )


@given(bundle=bundles())
def test_every_bundle_that_is_made_is_sound_also_when_read_back(bundle: Element) -> None:
    assert not faults_of(json.loads(bytes_of(bundle)))


@given(bundle=bundles())
def test_every_bundle_is_valid_by_the_official_schema(
    official: jsonschema_rs.Validator, bundle: Element
) -> None:
    official.validate(json.loads(bytes_of(bundle)))
