import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import ModelRetry
from tests.fakes.captured_events import captured_events
from tests.fakes.replies import (
    ITEMS,
    evidence_text,
    judge_text,
    judges_text,
    meta_review_text,
    qualitative_text,
    scoring_answer,
    scoring_text,
)

from ai_psychiatrist.agents.extractors import (
    extract_evidence,
    extract_judge_metric,
    extract_judges,
    extract_meta_review,
    extract_qualitative,
    extract_quantitative,
)
from ai_psychiatrist.agents.output_models import (
    ItemScoreOutput,
    JudgeMetricOutput,
    PartialJudgement,
    PartialJudgements,
)
from ai_psychiatrist.agents.prompts.tasks import TASKS
from ai_psychiatrist.agents.pydantic_agents import DANGER, JUDGE, JUDGES, META_REVIEW, QUANTITATIVE
from ai_psychiatrist.domain.failures import RejectionCode, UnreadPart
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.llm.definition import AgentDefinition
from ai_psychiatrist.llm.replies import ModelOutput, PartsReader, ReplyRejected

Code = RejectionCode
Extract = Callable[[str], ModelOutput]

QUOTES = ["I wake up at four every night."]
SECRET = "copper lanterns of Valparaiso"


def rejection(extract: Extract, reply: str) -> ReplyRejected:
    with pytest.raises(ModelRetry) as caught:
        extract(reply)
    assert isinstance(caught.value, ReplyRejected)
    return caught.value


@pytest.mark.parametrize(
    ("task", "extract", "reply", "rule"),
    [
        pytest.param(
            "evidence",
            extract_evidence,
            evidence_text({"PHQ8_Sleep": SECRET}),
            "each item key needs a list of strings",
            id="evidence",
        ),
        pytest.param(
            "quantitative",
            extract_quantitative,
            scoring_text(scoring_answer(QUOTES) | {"PHQ8_Sleep": {"score": 7}}),
            "score: 0, 1, 2, 3 or N/A",
            id="score",
        ),
        pytest.param(
            "judge_accuracy",
            extract_judge_metric,
            judge_text("7"),
            "the score has to be a whole number from 1 to 5",
            id="judge",
        ),
        pytest.param(
            "judges",
            extract_judges,
            judges_text(**dict.fromkeys(Metric, "7")),
            "the score has to be a whole number from 1 to 5",
            id="judges",
        ),
        pytest.param(
            "meta_review",
            extract_meta_review,
            meta_review_text("7"),
            "<severity> has to hold one whole number from 0 to 4 and nothing else",
            id="severity",
        ),
        pytest.param(
            "danger",
            DANGER.extract,
            json.dumps(
                {
                    "signs": [
                        {"quote": SECRET, "kind": "plan", "polarity": "denied", "level": "high"}
                    ]
                }
            ),
            "a denied sign has to be low",
            id="denied sign",
        ),
    ],
)
def test_feedback_says_what_the_prompt_asks_for(
    task: str, extract: Extract, reply: str, rule: str
) -> None:
    assert TASKS[task].lower().count(rule.lower()) == 1
    words = rule.lower().replace("score: 0", "score has to be 0")
    assert words in rejection(extract, reply).message.lower()


def scoring(**item: object) -> str:
    """Write a scoring reply whose first item has these fields in place of its own."""
    answer = scoring_answer(QUOTES)
    answer[ITEMS[0]] |= item
    return scoring_text(answer)


def first_item(reply: str) -> ItemScoreOutput:
    return extract_quantitative(reply).items[ITEMS[0]]


class TestQualitative:
    def test_tags_become_fields(self) -> None:
        reply = (
            "<think>hm</think><assessment> a </assessment><phq8_symptoms>b</phq8_symptoms>"
            "<social_factors>c</social_factors><biological_factors>Not assessed in interview"
            "</biological_factors><risk_factors>e</risk_factors><exact_quotes>- q</exact_quotes>"
        )
        output = extract_qualitative(reply)
        assert output.model_dump() == {
            "assessment": "a",
            "phq8_symptoms": "b",
            "social_factors": "c",
            "biological_factors": "Not assessed in interview",
            "risk_factors": "e",
            "exact_quotes": ("q",),
            "repaired": False,
            "coercions": 0,
        }

    @pytest.mark.parametrize(
        "tag",
        ["assessment", "PHQ8_symptoms", "social_factors", "biological_factors", "risk_factors"],
    )
    def test_missing_tag_is_asked_for_by_name(self, tag: str) -> None:
        reply = qualitative_text(QUOTES).replace(f"<{tag}>", "").replace(f"</{tag}>", "")
        error = rejection(extract_qualitative, reply)
        assert error.code is Code.MISSING_TAG
        assert f"<{tag}>" in error.message

    def test_empty_tag_asks_for_its_content(self) -> None:
        reply = qualitative_text(QUOTES).replace(
            "<social_factors>\nThe participant is tired.", "<social_factors>\n"
        )
        error = rejection(extract_qualitative, reply)
        assert error.code is Code.EMPTY_FIELD
        assert "not assessed in interview" in error.message

    @pytest.mark.parametrize("end", ["</risk_factors>", "</exact_quotes>"])
    def test_reply_that_was_cut_off_is_told_from_one_without_the_tag(self, end: str) -> None:
        reply = qualitative_text(QUOTES)
        assert rejection(extract_qualitative, reply[: reply.index(end)]).code is Code.TRUNCATED

    def test_a_section_of_a_draft_never_fills_the_final_narrative(self) -> None:
        draft, final = qualitative_text(QUOTES, "draft"), qualitative_text(QUOTES, "final")
        final = final.replace("risk_factors>", "risks>")
        assert rejection(extract_qualitative, draft + final).code is Code.MISSING_TAG

    def test_the_last_narrative_counts(self) -> None:
        reply = qualitative_text(QUOTES, "draft") + qualitative_text(QUOTES, "final")
        assert extract_qualitative(reply).risk_factors == "final"

    def test_quotes_are_optional(self) -> None:
        reply = qualitative_text(QUOTES)
        reply = reply[: reply.index("<exact_quotes>")]
        assert extract_qualitative(reply).exact_quotes == ()

    @pytest.mark.parametrize(
        ("block", "quotes"),
        [
            pytest.param("- one\n* two\n• three", ("one", "two", "three"), id="bullets"),
            pytest.param("1. one\n2) two", ("one", "two"), id="numbers"),
            pytest.param('- "one"\n“two”\n«three»', ("one", "two", "three"), id="quotation_marks"),
            pytest.param("one\n\n  two  \n", ("one", "two"), id="plain_lines"),
            pytest.param("- one\n- one", ("one",), id="repeated"),
            pytest.param("- Not assessed in interview.\n- None\n- N/A\n-", (), id="placeholders"),
            pytest.param("- 4 hours of sleep", ("4 hours of sleep",), id="number_of_the_quote"),
            pytest.param("- -5 degrees", ("-5 degrees",), id="minus_of_the_quote"),
            pytest.param("", (), id="empty"),
        ],
    )
    def test_lines_of_the_quote_block_are_quotes(self, block: str, quotes: tuple[str, ...]) -> None:
        reply = qualitative_text([]).replace("<exact_quotes>\n\n", f"<exact_quotes>\n{block}\n")
        assert extract_qualitative(reply).exact_quotes == quotes


class TestEvidence:
    def test_quotes_are_read_by_item(self) -> None:
        reply = evidence_text({"PHQ8_Sleep": QUOTES, "PHQ8_Tired": None, "extra": 1, "more": 2})
        output = extract_evidence(f"```json\n{reply}\n```")
        assert output.quotes == {item: QUOTES if item == "PHQ8_Sleep" else [] for item in ITEMS}
        assert (output.unknown_keys, output.repaired, output.coercions) == (2, False, 0)

    def test_repair_is_noted(self) -> None:
        assert extract_evidence('{"PHQ8_Sleep": ["x",],}').repaired is True

    @pytest.mark.parametrize(
        ("reply", "found"),
        [('["tired"]', "list"), ("```json\n[{}]\n```", "list"), ("42", "int"), ('"tired"', "str")],
    )
    def test_a_root_that_is_no_object_breaks_the_schema(self, reply: str, found: str) -> None:
        with captured_events() as events:
            error = rejection(extract_evidence, reply)
        assert error.code is Code.WRONG_TYPE
        assert error.violations == {"__root__": f"Expected object, got {found}"}
        assert [event["event"] for event in events] == ["evidence_schema_validation_failed"]

    @pytest.mark.parametrize("reply", ["{}", "None found.\n{}", "```json\n{}\n```"])
    def test_nothing_found_is_read_however_it_is_said(self, reply: str) -> None:
        assert extract_evidence(reply).quotes == {item: [] for item in ITEMS}

    def test_the_task_repeated_is_no_answer(self) -> None:
        wanted = "Reply with one JSON object and nothing else"
        assert wanted in TASKS["evidence"]
        reply = f"{wanted}:\n{evidence_text({key: [] for key in ITEMS})}"
        assert rejection(extract_evidence, reply).code is Code.NO_JSON
        assert extract_evidence(f"<think>{wanted}.</think>\n{{}}").quotes["PHQ8_Sleep"] == []

    def test_wrong_type_is_asked_for_by_key_and_type(self) -> None:
        error = rejection(extract_evidence, evidence_text({"PHQ8_Sleep": SECRET}))
        assert error.code is Code.WRONG_TYPE
        assert error.violations == {"PHQ8_Sleep": "Expected list, got str"}
        assert "PHQ8_Sleep: Expected list, got str" in error.message

    def test_wrong_type_is_logged_in_digests(self) -> None:
        reply = evidence_text({"PHQ8_Sleep": SECRET})
        with captured_events() as events:
            rejection(extract_evidence, reply)
        assert events == [
            {
                "event": "evidence_schema_validation_failed",
                "log_level": "error",
                "violations": {"PHQ8_Sleep": "Expected list, got str"},
                "response_hash": keyed_digest(reply),
                "response_len": len(reply),
            }
        ]


class TestScoring:
    @pytest.mark.parametrize(
        ("score", "read", "coercions"),
        [
            pytest.param(0, 0, 0, id="zero"),
            pytest.param(3, 3, 0, id="three"),
            pytest.param("2", 2, 1, id="string"),
            pytest.param(2.0, 2, 1, id="integral_float"),
            pytest.param("N/A", None, 0, id="not_available"),
            pytest.param(" n/a ", None, 0, id="lower_case"),
            pytest.param("NA", None, 0, id="without_slash"),
            pytest.param(None, None, 0, id="null"),
            pytest.param("", None, 1, id="empty"),
            pytest.param(" Unknown\u200b", None, 1, id="unknown"),
            pytest.param("2 (more than half the days)", 2, 1, id="number_and_its_words"),
            pytest.param("0 - not at all", 0, 1, id="number_and_its_words_with_a_dash"),
        ],
    )
    def test_score_is_read(self, score: object, read: int | None, coercions: int) -> None:
        output = extract_quantitative(scoring(score=score))
        assert (output.items[ITEMS[0]].score, output.coercions) == (read, coercions)

    @pytest.mark.parametrize(
        "score",
        [
            True,
            2.5,
            -1,
            4,
            "high",
            "2 or 3",
            "none",
            [2],
            {"value": 2},
            "2.5",
            10**400,
            "2 (several days)",
            "7 (nearly every day)",
            "2 (moderate)",
        ],
    )
    def test_score_off_the_scale_is_refused_naming_the_item(self, score: object) -> None:
        error = rejection(extract_quantitative, scoring(score=score))
        assert error.code is Code.SCORE_INVALID
        assert error.message == f"{ITEMS[0]}: score has to be 0, 1, 2, 3 or N/A."

    def test_missing_score_is_never_supplied(self) -> None:
        answer = scoring_answer(QUOTES)
        del answer[ITEMS[0]]["score"]
        assert rejection(extract_quantitative, scoring_text(answer)).code is Code.SCORE_MISSING

    @pytest.mark.parametrize("value", [None, [], 2, "2"])
    def test_missing_item_is_asked_for_by_name(self, value: object) -> None:
        answer: dict[str, object] = dict(scoring_answer(QUOTES))
        answer["PHQ8_Moving"] = value
        error = rejection(extract_quantitative, scoring_text(answer))
        assert error.code is Code.MISSING_ITEM
        assert "PHQ8_Moving" in error.message
        assert "PHQ8_Sleep" not in error.message

    @pytest.mark.parametrize(
        ("evidence", "read", "coercions"),
        [
            pytest.param(["a", " b ", "", "a"], ("a", "b"), 0, id="list"),
            pytest.param(None, (), 0, id="null"),
        ],
    )
    def test_cited_evidence_is_read(
        self, evidence: object, read: tuple[str, ...], coercions: int
    ) -> None:
        output = extract_quantitative(scoring(evidence=evidence))
        assert (output.items[ITEMS[0]].evidence, output.coercions) == (read, coercions)

    def test_quotes_under_another_key_are_not_lost(self) -> None:
        answer = scoring_answer(QUOTES)
        answer[ITEMS[0]]["quotes"] = answer[ITEMS[0]].pop("evidence") or QUOTES
        assert rejection(extract_quantitative, scoring_text(answer)).code is Code.WRONG_TYPE

    @pytest.mark.parametrize("evidence", ["a", "", [1], {"quote": "a"}, 7, [["a"]]])
    def test_cited_evidence_of_another_type_is_refused(self, evidence: object) -> None:
        assert rejection(extract_quantitative, scoring(evidence=evidence)).code is Code.WRONG_TYPE

    @pytest.mark.parametrize(
        ("confidence", "read"), [(1, 1), (5, 5), ("4", 4), (None, None), ("N/A", None)]
    )
    def test_confidence_is_read(self, confidence: object, read: int | None) -> None:
        assert first_item(scoring(confidence=confidence)).confidence == read

    @pytest.mark.parametrize("confidence", [0, 6, 0.8, True, "high"])
    def test_confidence_off_the_scale_is_refused(self, confidence: object) -> None:
        error = rejection(extract_quantitative, scoring(confidence=confidence))
        assert error.code is Code.CONFIDENCE_INVALID

    def test_all_that_is_wrong_is_told_at_once(self) -> None:
        answer = scoring_answer(QUOTES)
        answer["PHQ8_Sleep"] |= {"score": 7, "confidence": "high"}
        answer["PHQ8_Tired"] |= {"evidence": SECRET}
        error = rejection(extract_quantitative, scoring_text(answer))
        assert error.code is Code.SCORE_INVALID
        assert error.message == (
            "PHQ8_Sleep: score has to be 0, 1, 2, 3 or N/A. "
            "PHQ8_Sleep: confidence has to be a whole number from 1 to 5. "
            "PHQ8_Tired: evidence has to be a list of strings."
        )

    def test_absent_reason_is_empty(self) -> None:
        assert first_item(scoring(reason=None)).reason == ""


class TestJudge:
    @pytest.mark.parametrize(
        ("reply", "score", "explanation"),
        [
            pytest.param("Explanation: why\nScore: 4", 4, "why", id="plain"),
            pytest.param("Score: 4\nExplanation: why", 4, "why", id="score_first"),
            pytest.param("**Explanation:** why\n**Score:** 4", 4, "why", id="bold"),
            pytest.param("Explanation: why\n**Score: [5]**", 5, "why", id="brackets"),
            pytest.param("Explanation: why\nScore: 4/5", 4, "why", id="out_of_five"),
            pytest.param("Explanation: why\nScore: 4.0", 4, "why", id="integral_float"),
            pytest.param("why\nFinal score = 3", 3, "why", id="other_wording"),
            pytest.param('{"explanation": "why", "score": 2}', 2, "why", id="json"),
            pytest.param(
                "Explanation: the PHQ-8 score: 2 is named.\nScore: 5",
                5,
                "the PHQ-8 score: 2 is named.",
                id="score_in_the_explanation",
            ),
            pytest.param(
                "Explanation: draft\nScore: 1\nExplanation: why\nScore: 5",
                5,
                "why",
                id="last_counts",
            ),
            pytest.param(
                "<think>Score: 1</think>Explanation: why\nScore: 5", 5, "why", id="thinking"
            ),
            pytest.param("Explanation: why\nRating: 5", 5, "why", id="rating"),
            pytest.param("Explanation: why\n4/5", 4, "why", id="share_on_the_last_line"),
            pytest.param("why\n4", 4, "why", id="number_on_the_last_line"),
            pytest.param(
                "Its PHQ-8 score: 2 is named.\n**4**\n",
                4,
                "Its PHQ-8 score: 2 is named.",
                id="number_after_a_remark",
            ),
            pytest.param("Explanation: why\nScore:\n4", 4, "why", id="number_below_its_label"),
            pytest.param("Explanation: why\nScore: 4 out of 5", 4, "why", id="of_five_in_words"),
            pytest.param("Explanation：why\nScore：4", 4, "why", id="full_width_colon"),
            pytest.param("Explanation: why\nScore: 4 (1 fault)", 4, "why", id="count_in_brackets"),
        ],
    )
    def test_last_score_line_counts(self, reply: str, score: int, explanation: str) -> None:
        output = extract_judge_metric(reply)
        assert (output.score, output.explanation) == (score, explanation)

    @pytest.mark.parametrize(
        ("reply", "code"),
        [
            pytest.param(judge_text("3.5"), Code.SCORE_INVALID, id="half"),
            pytest.param(judge_text("3,5"), Code.SCORE_INVALID, id="half_with_comma"),
            pytest.param(judge_text("0"), Code.SCORE_INVALID, id="zero"),
            pytest.param(judge_text("6"), Code.SCORE_INVALID, id="six"),
            pytest.param(judge_text("-3"), Code.SCORE_INVALID, id="negative"),
            pytest.param(judge_text("8/10"), Code.SCORE_INVALID, id="out_of_ten_high"),
            pytest.param(judge_text("4/10"), Code.SCORE_INVALID, id="out_of_ten"),
            pytest.param(judge_text("3-4"), Code.SCORE_INVALID, id="range"),
            pytest.param(judge_text("3–4"), Code.SCORE_INVALID, id="range_with_dash"),
            pytest.param(judge_text("four"), Code.SCORE_MISSING, id="word"),
            pytest.param(judge_text("3 to 4"), Code.SCORE_INVALID, id="range_in_words"),
            pytest.param(judge_text("4 out of 10"), Code.SCORE_INVALID, id="out_of_ten_in_words"),
            pytest.param(judge_text("2") + "\nFinal score: high", Code.SCORE_MISSING, id="draft"),
            pytest.param("<think>Explanation: why\nScore: 4", Code.TRUNCATED, id="thinking"),
            pytest.param("Explanation:\u00a0\nScore: 4", Code.EMPTY_FIELD, id="hard_space"),
            pytest.param("Explanation: \u200b\nScore: 4", Code.EMPTY_FIELD, id="zero_width"),
            pytest.param("Explanation: \x1c\nScore: 4", Code.EMPTY_FIELD, id="separator"),
            pytest.param("The assessment is coherent.", Code.SCORE_MISSING, id="prose"),
            pytest.param("Score: 4", Code.EMPTY_FIELD, id="no_explanation"),
            pytest.param("Explanation: what you found\nScore: 3", Code.EMPTY_FIELD, id="echo"),
            pytest.param("Explanation: a\nScore: 2, no wait, 3", Code.SCORE_INVALID, id="anew"),
            pytest.param("Explanation: a\nScore: 2 (sorry, 3)", Code.SCORE_INVALID, id="sorry"),
            pytest.param("Explanation: a\nScore: 2 … I mean 3", Code.SCORE_INVALID, id="meant"),
            pytest.param("Explanation: a\nScore: 4 5", Code.SCORE_INVALID, id="two_numbers"),
            pytest.param(
                "Explanation: a\nScore: 4\nExplanation: Two", Code.SCORE_MISSING, id="cut_off_anew"
            ),
        ],
    )
    def test_anything_but_a_whole_score_is_refused(self, reply: str, code: Code) -> None:
        assert rejection(extract_judge_metric, reply).code is code


class TestMetaReview:
    @pytest.mark.parametrize("severity", ["0", "4", " 2 ", "**2**", "[2]", "2.0"])
    def test_severity_is_read(self, severity: str) -> None:
        output = extract_meta_review(meta_review_text(severity))
        assert output.severity == int(float(severity.strip(" *[]")))
        assert output.explanation == "Several symptoms are present."

    @pytest.mark.parametrize(
        ("reply", "coercions"),
        [
            ('{"severity": 2, "explanation": "why"}', 0),
            ('```json\n{"severity": "2", "explanation": "why",}\n```', 1),
        ],
    )
    def test_json_is_read_like_tags(self, reply: str, coercions: int) -> None:
        output = extract_meta_review(reply)
        assert (output.severity, output.explanation) == (2, "why")
        assert output.coercions == coercions

    @pytest.mark.parametrize("severity", ["2 (moderate)", "2 = Moderate", "2 - moderate."])
    def test_the_words_of_a_severity_may_follow_it(self, severity: str) -> None:
        assert extract_meta_review(meta_review_text(severity)).severity == 2

    @pytest.mark.parametrize("severity", ["9", "5", "-1", "2.5", "moderate", "2 (severe)", "1-2"])
    def test_severity_outside_the_scale_is_refused_not_clamped(self, severity: str) -> None:
        error = rejection(extract_meta_review, meta_review_text(severity))
        assert error.code is Code.SCORE_INVALID

    @pytest.mark.parametrize(
        ("reply", "code"),
        [
            pytest.param("<severity>2</severity>", Code.MISSING_TAG, id="no_explanation"),
            pytest.param("<explanation>a</explanation>", Code.MISSING_TAG, id="no_severity"),
            pytest.param(meta_review_text("2", ""), Code.EMPTY_FIELD, id="empty_explanation"),
            pytest.param(meta_review_text("0", "…"), Code.EMPTY_FIELD, id="placeholder"),
            pytest.param("<severity>2</severity><explanation>a", Code.TRUNCATED, id="cut_off"),
            pytest.param(
                meta_review_text("2") + "<severity>3", Code.TRUNCATED, id="draft_before_the_cut"
            ),
            pytest.param('{"severity": 2}', Code.MISSING_TAG, id="json_without_explanation"),
            pytest.param('{"severity": 5, "explanation": "a"}', Code.SCORE_INVALID, id="json_off"),
            pytest.param('{"severity": 2, "explanation": "\u200b"}', Code.EMPTY_FIELD, id="blank"),
        ],
    )
    def test_both_tags_have_to_hold_words(self, reply: str, code: Code) -> None:
        assert rejection(extract_meta_review, reply).code is code


WRAPPINGS = [
    pytest.param(lambda answer: {"answer": answer}, id="key"),
    pytest.param(lambda answer: {"status": "done", "PHQ8": answer}, id="key_beside_a_text"),
    pytest.param(lambda answer: {"notes": "[1]", "answer": answer}, id="key_beside_written_json"),
    pytest.param(lambda answer: [answer], id="list"),
    pytest.param(lambda answer: {"answer": json.dumps(answer)}, id="text"),
]


@pytest.mark.parametrize("wrap", WRAPPINGS)
def test_the_object_of_all_items_is_read_in_a_wrapping(wrap: Callable[[object], object]) -> None:
    evidence = {key: ["I am tired"] for key in ITEMS}
    assert extract_evidence(json.dumps(wrap(evidence))).quotes == evidence
    assert extract_evidence(json.dumps(wrap(evidence))).coercions == 1
    scores = scoring_answer(QUOTES)
    items = extract_quantitative(json.dumps(scores)).items
    assert extract_quantitative(json.dumps(wrap(scores))).items == items


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param({"answer": {"PHQ8_Sleep": []}}, id="part"),
        pytest.param(
            {"draft": {"PHQ8_Sleep": []}, "answer": {key: [] for key in ITEMS}},
            id="draft_beside_it",
        ),
        pytest.param({"example": {key: [] for key in ITEMS}}, id="unknown_key"),
        pytest.param({"properties": {key: [] for key in ITEMS}}, id="schema"),
    ],
)
def test_what_is_not_clearly_wrapped_is_refused(reply: object) -> None:
    assert rejection(extract_evidence, json.dumps(reply)).code is Code.MISSING_ITEM


EXTRACTORS: list[Extract] = [
    extract_qualitative,
    extract_evidence,
    extract_quantitative,
    extract_judge_metric,
    extract_meta_review,
]


@pytest.mark.parametrize("extract", EXTRACTORS)
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("", id="empty"),
        pytest.param(f"I saw {SECRET}.", id="prose"),
        pytest.param(f'["{SECRET}"]', id="list"),
        pytest.param(f'{{"PHQ8_Sleep": "{SECRET}"}}', id="string"),
        pytest.param(f"<severity>{SECRET}</severity>", id="tag"),
        pytest.param(f"Score: {SECRET}", id="score"),
        pytest.param("{" * 100_000 + SECRET, id="braces"),
    ],
)
def test_feedback_holds_nothing_of_the_reply(extract: Extract, reply: str) -> None:
    error = rejection(extract, reply)
    assert "Valparaiso" not in f"{error!r} {error} {error.violations}"
    assert error.__cause__ is None
    assert error.__suppress_context__ is True


@pytest.mark.parametrize(
    ("extract", "reply"),
    [
        pytest.param(extract_qualitative, qualitative_text(["\ud800"]), id="qualitative"),
        pytest.param(extract_evidence, json.dumps({"PHQ8_Sleep": ["\ud800"]}), id="evidence"),
        pytest.param(extract_quantitative, json.dumps(scoring_answer(["\ud800"])), id="scoring"),
        pytest.param(extract_evidence, '{"PHQ8_Sleep": ["\\ud800"],}', id="repaired_evidence"),
        pytest.param(extract_judge_metric, judge_text("4", "\ud800"), id="judge"),
        pytest.param(extract_meta_review, meta_review_text("2", "\ud800"), id="meta_review"),
    ],
)
def test_lone_surrogates_are_refused(extract: Extract, reply: str) -> None:
    assert rejection(extract, reply).code is Code.UNREPAIRABLE


ANY_REPLY = st.one_of(
    st.text(),
    st.text(alphabet='<>/{}[]":,-* \nscoreveritxplan0123456789.'),
    st.text(alphabet=st.characters(), max_size=20).map(
        lambda text: f"<severity>{text}</severity><explanation>{text}</explanation>"
    ),
    st.text(max_size=20).map(lambda text: f"Explanation:{text}\nScore: 4"),
    st.text(max_size=20).map(lambda text: qualitative_text([text], text)),
    st.text(max_size=20).map(lambda text: json.dumps({"severity": 2, "explanation": text})),
    st.text(max_size=20).map(lambda text: json.dumps({"PHQ8_Sleep": [text]})),
    st.text(max_size=20).map(lambda text: json.dumps(scoring_answer([text]))),
)


@pytest.mark.parametrize("extract", EXTRACTORS)
@given(text=ANY_REPLY)
def test_no_reply_raises_anything_but_a_rejection(extract: Extract, text: str) -> None:
    with suppress(ReplyRejected):
        assert isinstance(extract(text), ModelOutput)


DEFINITIONS: tuple[AgentDefinition[Any], ...] = (
    QUANTITATIVE,
    *JUDGE.values(),
    JUDGES,
    META_REVIEW,
    DANGER,
)
IN_PART = [one.parts for one in DEFINITIONS if one.parts is not None]


@pytest.mark.parametrize("parts", IN_PART)
@given(
    text=ANY_REPLY
    | st.text(alphabet='{}[]":,\\ud83signsquotelevlscore0123 \n')
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda some: (
            st.lists(some, max_size=3)
            | st.dictionaries(
                st.sampled_from(["signs", "quote", "level", "result", "PHQ8_Sleep", "score"]),
                some,
                max_size=3,
            )
        ),
        max_leaves=12,
    ).map(json.dumps)
)
def test_no_reply_raises_where_its_valid_part_is_read(parts: PartsReader, text: str) -> None:
    part = parts.read(text)
    assert part is None or part.unread_count >= part.lost_count >= 0


JUDGEMENT = {"explanation": "It is whole.", "score": 4}


@pytest.mark.parametrize(
    ("definition", "reply"),
    [
        pytest.param(QUANTITATIVE, scoring_text(scoring_answer(QUOTES)), id="scores"),
        pytest.param(JUDGE[Metric.COHERENCE], judge_text("4"), id="judge"),
        pytest.param(JUDGE[Metric.COHERENCE], json.dumps(JUDGEMENT), id="judge_as_json"),
        pytest.param(JUDGES, judges_text(coherence="2"), id="judges"),
        pytest.param(JUDGES, json.dumps(dict.fromkeys(Metric, JUDGEMENT)), id="judges_as_json"),
        pytest.param(META_REVIEW, meta_review_text("2"), id="meta_review"),
        pytest.param(META_REVIEW, '{"severity": 2, "explanation": "So."}', id="review_as_json"),
    ],
)
def test_a_whole_reply_is_read_in_part_as_the_same(
    definition: AgentDefinition[Any], reply: str
) -> None:
    assert definition.parts is not None
    part = definition.parts.read(reply)
    assert part is not None
    assert part.unread_count == part.lost_count == 0
    whole = definition.extract(reply).model_dump(exclude={"repaired", "coercions"})
    assert _values(part.model_dump()) == _values(whole)


def _values(said: Any) -> Any:
    """Return what a reply says, without the notes on how it was read."""
    if not isinstance(said, dict):
        return said
    return {key: _values(value) for key, value in said.items() if key != "unread"}


def test_of_a_refused_object_of_all_metrics_each_score_that_can_be_read_stands() -> None:
    said = {"coherence": {"score": 2}, "accuracy": {"explanation": "So.", "score": 9}}
    reply = json.dumps(said)
    assert rejection(JUDGES.extract, reply).code is Code.EMPTY_FIELD
    assert JUDGES.parts is not None
    part = JUDGES.parts.read(reply)
    assert part == PartialJudgements(
        scores={
            Metric.COHERENCE: PartialJudgement(
                score=2, explanation="", unread=(UnreadPart.EXPLANATION,)
            )
        }
    )


@pytest.mark.parametrize(
    ("extract", "reply"),
    [
        pytest.param(
            extract_evidence,
            evidence_text({"PHQ8_Sleep": [f"said {n}" for n in range(101)]}),
            id="evidence",
        ),
        pytest.param(
            extract_qualitative, qualitative_text([f"said {n}" for n in range(101)]), id="narrative"
        ),
    ],
)
def test_a_list_of_more_quotes_than_anybody_reads_is_refused(extract: Extract, reply: str) -> None:
    assert rejection(extract, reply).code is Code.TOO_MANY_QUOTES


@pytest.mark.parametrize("unit", ["{}", '{"a": 1}\n', 'see {"b": 1} x\n', "```\n"])
def test_a_flood_of_answers_is_refused_before_all_of_it_is_read(unit: str) -> None:
    flood = unit * 5_000 + evidence_text({ITEMS[0]: QUOTES})
    assert rejection(extract_evidence, flood).code is Code.SEVERAL_ANSWERS


@pytest.mark.parametrize("length", [*range(16_360, 16_390), 40_000])
def test_the_last_score_of_a_long_reply_is_found_wherever_it_stands(length: int) -> None:
    words = "Explanation: " + "so it is " * 5_000
    reply = f"{words[:length]}\nScore: 4\n"
    assert extract_judge_metric(reply) == JudgeMetricOutput(
        score=4, explanation=words[len("Explanation: ") : length].strip()
    )


def test_of_a_long_reply_no_single_search_takes_all_at_once() -> None:
    """A search holds the interpreter until it ends; the blank lines cost it most."""
    reply = "I see." + "\n" * 250_000 + "Explanation: it is\nScore: 4"
    longest, last = 0.0, time.thread_time()

    def profile(_: FrameType, __: str, ___: object) -> None:
        nonlocal longest, last
        now = time.thread_time()
        longest, last = max(longest, now - last), now

    sys.setprofile(profile)
    try:
        score = extract_judge_metric(reply).score
    finally:
        sys.setprofile(None)
    assert score == 4
    assert longest < 0.1
