"""What is said of danger and of unknown items: the same words wherever a result is shown."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console
from tests.fakes.parsed_page import ParsedPage
from tests.fakes.shown_results import DANGEROUS, dangerous_view, result_json, view_of

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.cli.report import print_report
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.risk import RiskGroup
from ai_psychiatrist.results.fhir.bundle import bundle_of
from ai_psychiatrist.results.page.pages import sheet_html
from ai_psychiatrist.results.tables import item_rows
from ai_psychiatrist.results.wording import danger_headline, signal_groups, unknown_items_words

QUESTION, ANSWER = "How's your appetite?", "The dog gets most of it."
TEXT = (
    "Interviewer: How do you sleep?\nParticipant: Badly, nearly every night.\n"
    f"Interviewer: {QUESTION}\nParticipant: {ANSWER}\n"
)
UNREAD = {
    "question_turn": 2,
    "question": QUESTION,
    "answer_turn": 3,
    "answer": ANSWER,
}
NOT_READ = "asked in turn 3, no score could be taken from the answer"


def result_with(appetite: dict[str, Any], *, model: str = BASELINE) -> Assessment:
    """Return a result of which one item is unknown, as a model answered."""
    fields: dict[str, Any] = json.loads(result_json(TEXT))
    fields["quantitative"]["items"]["PHQ8_Appetite"] |= {
        "score": None,
        "unread_answer": None,
        **appetite,
    }
    for attempt in fields["attempts"]:
        attempt["model"] = model
    return Assessment.model_validate_json(json.dumps(fields))


def on_page(result: Assessment) -> str:
    page = sheet_html(view_of(json.loads(result.model_dump_json()), TEXT))
    return " ".join(ParsedPage(page).of("body")[0].text.split())


def in_terminal(result: Assessment) -> str:
    console = Console(file=io.StringIO(), width=400, markup=False, highlight=False)
    print_report(result, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def in_notebook(result: Assessment) -> str:
    return result._repr_html_() or ""


def exchanged(result: Assessment) -> str:
    return json.dumps(bundle_of(result, transcript_sha256=None))


SHOWN: dict[str, Callable[[Assessment], str]] = {
    "page": on_page,
    "terminal": in_terminal,
    "notebook": in_notebook,
    "bundle": exchanged,
}


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize(
    ("appetite", "model", "words"),
    [
        pytest.param(
            {"unknown_reason": "no_mention"}, BASELINE, "nothing found by the rules", id="rules"
        ),
        pytest.param(
            {"unknown_reason": "no_mention"}, "x:y", "the model named no evidence", id="model"
        ),
        pytest.param({"unknown_reason": "unclear"}, BASELINE, "two readings stand", id="readings"),
        pytest.param(
            {"unknown_reason": "unclear", "unread_answer": UNREAD}, BASELINE, NOT_READ, id="unread"
        ),
        pytest.param(
            {"unknown_reason": "not_examined", "not_examined_cause": "language"},
            BASELINE,
            "not examined: the words are in a language that is not read",
            id="language",
        ),
        pytest.param(
            {"unknown_reason": "not_examined", "not_examined_cause": "reader_failed"},
            BASELINE,
            "not examined: the reading failed",
            id="failed",
        ),
    ],
)
def test_an_unknown_item_says_why(
    shown: Callable[[Assessment], str], appetite: dict[str, Any], model: str, words: str
) -> None:
    assert words in shown(result_with(appetite, model=model))


def test_one_unknown_item_is_no_plural() -> None:
    assert [unknown_items_words(count) for count in (1, 2)] == ["1 item unknown", "2 items unknown"]


@pytest.mark.parametrize("shown", [on_page, in_terminal])
def test_question_and_answer_are_shown_where_nothing_was_read(
    shown: Callable[[Assessment], str],
) -> None:
    told = shown(result_with({"unknown_reason": "unclear", "unread_answer": UNREAD}))
    before = shown(result_with({"unknown_reason": "unclear"}))
    for words in (QUESTION, ANSWER):
        assert told.count(words) == before.count(words) + 1


def test_words_of_the_interview_are_in_no_notebook_and_in_rows_only_on_request() -> None:
    result = result_with({"unknown_reason": "unclear", "unread_answer": UNREAD})
    (row,) = [one for one in item_rows(result) if one["item"] == "PHQ8_Appetite"]
    assert row["unread_turn"] == 2
    (whole,) = [one for one in item_rows(result, with_words=True) if one["item"] == "PHQ8_Appetite"]
    assert (whole["unread_question"], whole["unread_answer"]) == (QUESTION, ANSWER)
    for text in (in_notebook(result), exchanged(result), repr(result), json.dumps(dict(row))):
        assert QUESTION not in text
        assert ANSWER not in text


def test_statements_stand_in_groups_by_level_and_never_by_position() -> None:
    result = dangerous_view().result
    groups = signal_groups(result.risk.signals)
    told = [one for one in RiskGroup if one is not RiskGroup.FOUND_BY_WORDS_ALONE]
    assert list(groups) == told
    for signals in groups.values():
        ranks = [one.level.rank for one in signals]
        assert ranks == sorted(ranks, reverse=True)
    starts = [one.start for one in groups[told[0]]]
    assert starts != sorted(starts)


@pytest.mark.parametrize("shown", [on_page, in_terminal], ids=["page", "terminal"])
def test_groups_and_whole_sentences_are_shown_in_their_order(
    shown: Callable[[Assessment], str],
) -> None:
    result = dangerous_view().result
    text = (
        in_terminal(result)
        if shown is in_terminal
        else " ".join(ParsedPage(sheet_html(dangerous_view())).of("section")[0].text.split())
    )
    order = [
        "Signs of danger: high",
        "Read now: affirmed, hypothetical or unclear (",
        "Past, quoted, or about someone else (",
        "My brother killed himself, and my mother found him.",
        "Asked and denied (",
        "Any thoughts of hurting other people?",
    ]
    at = 0
    for words in order:
        assert words in text[at:], words
        at = text.index(words, at)
    assert "turn 2" in text


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        pytest.param(
            "Interviewer: Are you having thoughts of suicide?\nParticipant: No.\n",
            "Asked about suicide: denied (turn 2)",
            id="asked",
        ),
        pytest.param(
            "Interviewer: How are you?\nParticipant: I don't want to kill myself.\n",
            "Not asked about: suicide: denied (turn 2)",
            id="not asked",
        ),
        pytest.param(
            "Interviewer: Are you having thoughts of suicide?\nParticipant: No.\n"
            "Interviewer: Any thoughts of hurting other people?\nParticipant: No, never.\n"
            "Interviewer: Do you want to kill yourself?\nParticipant: No.\n",
            "Asked about suicide: denied (turns 2 and 6); about harm to others: denied (turn 4)",
            id="several",
        ),
        pytest.param(
            "Interviewer: Are you having thoughts of suicide?\nParticipant: No.\n"
            "Interviewer: ¿Cómo duerme usted por las noches?\n"
            "Participant: Duermo muy mal, me despierto todas las noches y no puedo dormir.\n",
            "Signs of danger: not examined. Asked about suicide: denied (turn 2)",
            id="not all read",
        ),
        pytest.param("Participant: I feel fine.\n", "Signs of danger: nothing found", id="nothing"),
        pytest.param(DANGEROUS, "Signs of danger: high", id="danger"),
    ],
)
def test_the_headline_is_a_level_or_what_was_denied(text: str, headline: str) -> None:
    risk = Assessment.model_validate_json(result_json(text)).risk
    assert danger_headline(risk) == headline


TOLD = "Interviewer: Go on.\nParticipant: They'd all be better off without me.\n"


def shown_on_page(result: Assessment) -> str:
    page = sheet_html(view_of(json.loads(result.model_dump_json()), TOLD))
    return " ".join(ParsedPage(page).of("body")[0].text.split())


def told_by_reader(status: str) -> Assessment:
    fields = json.loads(result_json(TOLD))
    (first, *_) = fields["risk"]["signals"]
    signals = list(fields["risk"]["signals"])
    signals[0] = first | {"is_shared": False, "group": "found_by_words_alone", "level": "low"}
    place = {"turn": first["turn"], "start": first["start"], "end": first["end"]}
    fields["risk"] |= {
        "signals": signals,
        "level": "low",
        "reader": {
            "status": status,
            "digest": "0" * 64,
            "sign_count": 0,
            "unshared_count": 1,
            "read_first": [place | {"text": "COPPER LANTERNS"}],
        },
    }
    return Assessment.model_validate(fields)


@pytest.mark.parametrize("shown", [shown_on_page, in_terminal], ids=["page", "terminal"])
def test_what_the_learned_reader_says_is_shown(shown: Callable[[Assessment], str]) -> None:
    text = shown(told_by_reader("answered"))
    assert "Found by words alone: the learned reader does not agree" in text
    assert "Passages to read first, as the learned reader ranks them; no level (1)" in text
    assert text.count("COPPER LANTERNS") == 1


@pytest.mark.parametrize("shown", [shown_on_page, in_terminal], ids=["page", "terminal"])
@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("off", "switched off: only the fixed phrases were used"),
        ("missing", "is not installed"),
        ("failed", "failed: only the fixed phrases were used"),
    ],
)
def test_why_the_learned_reader_takes_no_part_is_said(
    shown: Callable[[Assessment], str], status: str, words: str
) -> None:
    assert words in " ".join(shown(told_by_reader(status)).split())


def test_passages_to_read_first_are_in_no_notebook_and_in_no_bundle() -> None:
    result = told_by_reader("answered")
    for text in (in_notebook(result), exchanged(result), repr(result)):
        assert "COPPER LANTERNS" not in text


def test_what_rules_counted_of_their_own_narrative_is_shown_as_a_count() -> None:
    result = Assessment.model_validate_json(result_json(TEXT))
    assert result.evaluation is not None
    assert result.evaluation.best.scores[Metric.ACCURACY].score == 5
    for shown in (on_page(result), in_terminal(result)):
        assert "quotes are the participant's words" in shown
        assert "5 of 5" not in shown
        assert "ounted by rules" in shown


def test_a_models_judgement_is_shown_with_its_score() -> None:
    fields = json.loads(result_json(TEXT))
    for one in fields["evaluation"]["rounds"]:
        one["scores"]["accuracy"] = {"score": 5, "explanation": "All quotes are right."}
    fields["evaluation"]["accuracy"] = {"score": 5, "explanation": "All quotes are right."}
    result = Assessment.model_validate_json(json.dumps(fields))
    for shown in (on_page(result), in_terminal(result)):
        assert "5 of 5" in shown
        assert "All quotes are right." in shown
