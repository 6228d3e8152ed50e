"""Who is given what in an export: nobody the scores that they rate blind, or others' ratings."""

import asyncio
import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ai_psychiatrist.api.exports import Export, ExportedAs, ExportedThing, ExportInQuery
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import (
    ChangedScore,
    EvidenceVerdict,
    MissedEvidence,
    RejectReason,
    ReviewPhase,
    Said,
    SpanRating,
    Verdict,
)
from ai_psychiatrist.infrastructure.digests import using_installation_key
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.store.records import NewRecord, figures_of
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.records import stores_of
from tests.fakes.fhir_bundles import faults_of
from tests.fakes.full_results import EXAMPLE, result_with, rows_of
from tests.integration.running_app import settings_with

RECORDS = ("a0", "a1", "a2")


def principal(name: str, *scopes: Scope) -> Principal:
    return Principal(id=name, name=name, tenant="local", scopes=frozenset(scopes))


READER = principal("reader", Scope.READ)
FIRST = principal("first", Scope.READ, Scope.REVIEW)
BLIND = principal("blind", Scope.REVIEW)
ADMIN = principal("admin", *Scope)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    """Three assessments of which `first` has rated one and begun another blind."""
    opened = stores_of(settings_with(tmp_path))
    store = opened.open("local")
    for number, name in enumerate(RECORDS):
        result = replace(result_with([number] * 8), assessment_id=name)
        store.add(
            NewRecord(
                id=name,
                transcript=parse_transcript(EXAMPLE.read_text("utf-8")),
                result=result.model_dump_json().encode(),
                figures=figures_of(result),
            )
        )
    rate(store, "a0", FIRST, 3)
    rate(store, "a0", BLIND, 1)
    store.reviews.begin("a1", FIRST.id)
    try:
        yield opened
    finally:
        opened.close()


def rate(store: Store, name: str, rater: Principal, score: int, *more: Said) -> None:
    assert store.reviews.begin(name, rater.id) is ReviewPhase.BLIND
    store.reviews.append(name, rater.id, rows_of(rater.id, [score] * 8)[0].said)
    for said in more:
        store.reviews.append(name, rater.id, said)


def exported(stores: Stores, by: Principal, what: str, how: str = "jsonl") -> str:
    """Return everything of an export as its reader gets it."""
    query = ExportInQuery(what=ExportedThing(what), format=ExportedAs(how)).checked()
    export = Export(query=query, records=stores.records("local"), principal=by)

    async def read() -> bytes:
        with using_installation_key(b"k" * 32):
            return b"".join([chunk async for chunk in export.chunks()])

    return asyncio.run(read()).decode()


def names_in(lines: str) -> list[str]:
    return [json.loads(line)["assessment_id"] for line in lines.splitlines()]


def test_what_somebody_rates_blind_is_left_out(stores: Stores) -> None:
    assert names_in(exported(stores, READER, "results")) == ["a2", "a1", "a0"]
    assert names_in(exported(stores, FIRST, "results")) == ["a2", "a0"]
    assert names_in(exported(stores, FIRST, "items")) == ["a2"] * 8 + ["a0"] * 8


def test_whoever_may_only_rate_is_given_what_they_have_rated(stores: Stores) -> None:
    assert names_in(exported(stores, BLIND, "results")) == ["a0"]
    assert len(exported(stores, BLIND, "results", "fhir").splitlines()) == 1


def test_whoever_was_given_scores_rates_them_blind_no_more(stores: Stores) -> None:
    exported(stores, READER, "results")
    phases = [stores.open("local").reviews.begin(name, READER.id) for name in RECORDS]
    assert phases == [ReviewPhase.SEEN] * 3


def test_others_ratings_are_for_admins_alone(stores: Stores) -> None:
    def raters(by: Principal) -> set[str]:
        lines = exported(stores, by, "ratings").splitlines()
        return {json.loads(line)["rater"] for line in lines}

    assert raters(READER) == set()
    assert raters(FIRST) == {"first"}
    assert raters(ADMIN) == {"first", "blind"}


def test_an_admin_who_rates_blind_is_given_nothing_of_others(stores: Stores) -> None:
    stores.open("local").reviews.begin("a0", ADMIN.id)
    assert exported(stores, ADMIN, "ratings") == ""


def test_ratings_as_fhir_are_one_bundle_of_each_rater(stores: Stores) -> None:
    lines = exported(stores, ADMIN, "ratings", "fhir").splitlines()
    bundles = [json.loads(line) for line in lines]
    assert [faults_of(bundle) for bundle in bundles] == [[], []]
    assert [bundle["entry"][8]["resource"]["valueInteger"] for bundle in bundles] == [24, 8]
    assert "first" not in "".join(lines)


def test_everything_that_was_said_is_a_row(stores: Stores) -> None:
    span = SpanRating(start=10, end=20)
    rate(
        stores.open("local"),
        "a2",
        ADMIN,
        2,
        EvidenceVerdict(
            item=Item.SLEEP, evidence=0, verdict=Verdict.REJECTED, reason=RejectReason.PAST
        ),
        MissedEvidence(item=Item.TIRED, span=span),
        ChangedScore(item=Item.SLEEP, score=None),
    )
    content = exported(stores, ADMIN, "ratings", "csv")
    rows = [
        row
        for row in csv.DictReader(io.StringIO(content, newline=""))
        if row["assessment_id"] == "a2"
    ]
    kinds = [row["kind"] for row in rows]
    assert kinds == ["committed", "committed_evidence"] * 8 + [
        "evidence",
        "missed",
        "score",
    ]
    assert {(row["score"], row["phase"]) for row in rows[:16:2]} == {("2", "blind")}
    assert [rows[16][name] for name in ("item", "evidence", "verdict", "reason")] == [
        "PHQ8_Sleep",
        "0",
        "rejected",
        "past",
    ]
    assert (rows[17]["start"], rows[17]["end"]) == ("10", "20")
    assert (rows[18]["score"], rows[18]["cannot_tell"]) == ("", "true")


def test_one_assessment_is_read_when_it_is_wanted_and_no_sooner(stores: Stores) -> None:
    query = ExportInQuery(what=ExportedThing.ITEMS).checked()
    export = Export(query=query, records=stores.records("local"), principal=READER)

    async def read() -> list[str]:
        chunks = export.chunks()
        first = await anext(chunks)
        stores.open("local").removal.erase("a1")
        rest = [chunk async for chunk in chunks]
        return names_in(b"".join([first, *rest]).decode())

    assert asyncio.run(read()) == ["a2"] * 8 + ["a0"] * 8
