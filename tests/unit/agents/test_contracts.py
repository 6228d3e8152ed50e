"""The shipped contract: its files are what the models say, and each clinical rule speaks up."""

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.agents.contracts.contract import (
    CONTRACT_FILE,
    contract_folder,
    item_verdict,
    shipped_contract,
    shipped_step,
)
from ai_psychiatrist.agents.contracts.generate import generated_files
from ai_psychiatrist.agents.item_rules import ItemFinding, QuoteUse, check_item
from ai_psychiatrist.agents.output_models import ItemScoreOutput
from ai_psychiatrist.agents.prompts.tasks import TASKS
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
)
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.domain.phq8 import Item, UnknownReason, severity_of
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.config.pipeline import lint_pipeline

WORDS = "marigold"
ITEMS = [item.value for item in Item]


def quote(
    polarity: Polarity,
    timeframe: Timeframe = Timeframe.UNSTATED,
    relevance: Relevance = Relevance.ABOUT,
) -> Quote:
    return Quote(
        text=f"{WORDS} every day",
        segments=(Segment(turn=0, start=0, end=5),),
        match=Match.EXACT,
        polarity=polarity,
        frequency=Frequency.UNSTATED,
        timeframe=timeframe,
        relevance=relevance,
    )


AFFIRMED = quote(Polarity.AFFIRMED)
DENIED = quote(Polarity.DENIED)
UNCLEAR = quote(Polarity.UNCLEAR)
ONCE = quote(Polarity.AFFIRMED, Timeframe.PAST)
NOT_THEN = quote(Polarity.DENIED, Timeframe.PAST)
UNREAD = quote(Polarity.UNCLEAR, relevance=Relevance.UNREAD)
ELSEWHERE = quote(Polarity.UNCLEAR, relevance=Relevance.ELSEWHERE)
OF_OTHERS = quote(Polarity.UNCLEAR, relevance=Relevance.OTHER_PERSON)
INSTRUCTION = quote(Polarity.UNCLEAR, relevance=Relevance.INSTRUCTION)


def finding(score: int | None, *quotes: Quote, is_found: bool = True, **more: Any) -> ItemFinding:
    """Check one item whose reply cites a quote that is in the transcript or not."""
    answer = ItemScoreOutput(
        score=score, **{"reason": f"{WORDS} said so", "evidence": (f"{WORDS} every day",), **more}
    )
    return check_item(Item.SLEEP, answer, quotes, lambda _: is_found)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        pytest.param(finding(None, reason=" "), "N/A needs a reason", id="reason"),
        pytest.param(finding(2), "a quote that says that the symptom is present", id="presence"),
        pytest.param(finding(0, AFFIRMED), "a 0 needs a quote that denies", id="denial"),
        pytest.param(finding(2, OF_OTHERS), "about this symptom of the participant", id="others"),
        pytest.param(finding(2, ONCE), "about the past alone", id="past"),
    ],
)
def test_clinical_rules_are_told_in_the_prompt_and_in_the_feedback(
    broken: ItemFinding, rule: str
) -> None:
    assert TASKS["quantitative"].count(rule) == 1
    assert any(rule in error for error in broken.errors)


def test_schemas_and_templates_are_what_models_and_prompts_say() -> None:
    """After a change of either: make contracts."""
    folder = contract_folder()
    kept = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for name in ("schemas", "templates")
        for path in (folder / name).iterdir()
    }
    by_hand = {f"schemas/{name}.json" for name in ("item", "assessment")}
    assert {name: text for name, text in kept.items() if name not in by_hand} == generated_files()
    assert by_hand <= kept.keys()


@pytest.mark.parametrize("name", ["item", "assessment"])
def test_schemas_written_by_hand_know_all_items_and_reasons(name: str) -> None:
    schema = json.loads((contract_folder() / "schemas" / f"{name}.json").read_text("utf-8"))
    assert schema["$defs"]["Item"]["enum"] == ITEMS
    reasons = schema["$defs"].get("UnknownReason", {"enum": list(UnknownReason)})
    assert reasons["enum"] == list(UnknownReason)


def test_shipped_contract_has_no_problem() -> None:
    assert lint_pipeline(contract_folder() / CONTRACT_FILE) == []


@pytest.mark.parametrize("step", [step.name for step in shipped_contract().steps])
def test_every_step_compiles_and_is_what_the_whole_contract_says(step: str) -> None:
    assert shipped_step(step).name == step
    whole = StepValidator(shipped_contract().step(step))
    assert shipped_step(step).ruleset_digest == whole.ruleset_digest


@pytest.mark.parametrize(
    ("found", "rules"),
    [
        pytest.param(finding(3, AFFIRMED), (), id="affirmed"),
        pytest.param(finding(2, DENIED, AFFIRMED), (), id="a_denial_beside"),
        pytest.param(finding(2, DENIED), ("contradicted_by_evidence",), id="all_deny"),
        pytest.param(finding(3, ONCE, DENIED), ("contradicted_by_evidence",), id="all_past"),
        pytest.param(finding(2), ("score_needs_evidence",), id="two_without_quotes"),
        pytest.param(finding(1), ("score_needs_evidence",), id="one_without_quotes"),
        pytest.param(finding(0, DENIED), (), id="denied"),
        pytest.param(finding(0, AFFIRMED, DENIED), (), id="denied_among_others"),
        pytest.param(finding(0, AFFIRMED), ("zero_without_denial",), id="zero_on_a_symptom"),
        pytest.param(finding(0, NOT_THEN), ("zero_without_denial",), id="zero_on_the_past"),
        pytest.param(finding(0), ("zero_without_denial",), id="zero_without_quotes"),
        pytest.param(finding(None), (), id="unknown"),
        pytest.param(finding(None, reason=" "), ("na_needs_reason",), id="unknown_untold"),
        pytest.param(finding(3, AFFIRMED, reason=""), (), id="score_untold"),
        pytest.param(
            finding(3, AFFIRMED, is_found=False), ("quote_in_transcript",), id="invented_quote"
        ),
        pytest.param(finding(3, AFFIRMED, is_found=False, evidence=()), (), id="no_cited_quote"),
        pytest.param(finding(None, AFFIRMED, confidence=4), (), id="unsure_of_unknown"),
        pytest.param(finding(None, confidence=5), (), id="sure_of_silence"),
        pytest.param(finding(2, AFFIRMED, confidence=5), (), id="sure_of_score"),
        pytest.param(
            finding(0, AFFIRMED, is_found=False, reason=""),
            ("quote_in_transcript", "zero_without_denial"),
            id="two_at_once",
        ),
    ],
)
def test_clinical_rules_speak_against_an_item_or_do_not(
    found: ItemFinding, rules: tuple[str, ...]
) -> None:
    assert found.rules == rules
    assert len(found.errors) == len(rules)
    assert all(error.startswith(f"{Item.SLEEP.value}: ") for error in found.errors)
    assert WORDS not in " ".join(found.errors)


@pytest.mark.parametrize(
    ("proposed", "quotes", "reason"),
    [
        pytest.param(2, [AFFIRMED], None, id="affirmed"),
        pytest.param(1, [UNCLEAR], None, id="only_unclear"),
        pytest.param(1, [UNCLEAR, DENIED], None, id="unclear_and_denied"),
        pytest.param(3, [UNREAD], None, id="unread"),
        pytest.param(3, [ELSEWHERE], UnknownReason.NOT_ABOUT_ITEM, id="elsewhere"),
        pytest.param(1, [OF_OTHERS], UnknownReason.NOT_ABOUT_ITEM, id="of_another_person"),
        pytest.param(2, [INSTRUCTION], UnknownReason.NOT_ABOUT_ITEM, id="an_instruction"),
        pytest.param(2, [ELSEWHERE, AFFIRMED], None, id="one_of_two_is_about_it"),
        pytest.param(0, [UNREAD], UnknownReason.ZERO_WITHOUT_DENIAL, id="zero_on_unread_words"),
        pytest.param(2, [ONCE], UnknownReason.ONLY_DENIED_OR_PAST, id="only_past"),
        pytest.param(3, [ONCE, DENIED], UnknownReason.ONLY_DENIED_OR_PAST, id="past_and_denied"),
        pytest.param(1, [DENIED], UnknownReason.ONLY_DENIED_OR_PAST, id="a_one_on_a_denial"),
        pytest.param(3, [ONCE, AFFIRMED], None, id="past_and_present"),
        pytest.param(3, [DENIED, AFFIRMED], None, id="affirmed_beside_a_denial"),
        pytest.param(2, [], UnknownReason.NO_GROUNDED_EVIDENCE, id="no_quote"),
        pytest.param(0, [DENIED], None, id="zero_denied"),
        pytest.param(0, [AFFIRMED, DENIED], None, id="zero_with_one_denial"),
        pytest.param(0, [NOT_THEN], UnknownReason.ZERO_WITHOUT_DENIAL, id="zero_of_the_past"),
        pytest.param(0, [AFFIRMED], UnknownReason.ZERO_WITHOUT_DENIAL, id="zero_on_a_symptom"),
        pytest.param(0, [UNCLEAR], UnknownReason.ZERO_WITHOUT_DENIAL, id="zero_on_unclear_words"),
        pytest.param(0, [], UnknownReason.ZERO_WITHOUT_DENIAL, id="zero_without_quote"),
        pytest.param(None, [], UnknownReason.NO_MENTION, id="not_mentioned"),
        pytest.param(None, [AFFIRMED], UnknownReason.SCORE_NA_WITH_EVIDENCE, id="not_scored"),
    ],
)
def test_score_stands_only_on_words_that_carry_it(
    proposed: int | None, quotes: list[Quote], reason: UnknownReason | None
) -> None:
    assert finding(proposed, *quotes).reason_against(proposed, quotes) is reason


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        pytest.param(finding(2, UNCLEAR), "no_affirmed_evidence", id="unclear"),
        pytest.param(finding(1, DENIED), "one_without_presence", id="a_one_on_a_denial"),
        pytest.param(finding(1, ONCE), "one_without_presence", id="a_one_on_the_past"),
    ],
)
def test_weakly_carried_score_is_noted_and_not_sent_back(found: ItemFinding, rule: str) -> None:
    assert found == ItemFinding(errors=(), rules=(rule,))


def test_warning_is_noted_and_not_sent_back() -> None:
    found = finding(None, AFFIRMED, confidence=5)
    assert found == ItemFinding(errors=(), rules=("na_with_high_confidence",))


QUOTES = st.builds(
    Quote,
    text=st.just(WORDS),
    match=st.just(Match.EXACT),
    segments=st.integers(0, 3).map(lambda at: (Segment(turn=0, start=at, end=at + 1),)),
    polarity=st.sampled_from(Polarity),
    frequency=st.sampled_from(Frequency),
    timeframe=st.sampled_from(Timeframe),
    relevance=st.sampled_from(Relevance),
    is_plain=st.booleans(),
)
ANSWERS = st.builds(
    ItemScoreOutput,
    score=st.none() | st.integers(0, 3),
    evidence=st.lists(st.sampled_from(["said", "invented", "{score}"]), max_size=3).map(tuple),
    reason=st.sampled_from(["", " ", "\u00a0", "\u200b", "because", "{score}"]),
    confidence=st.none() | st.integers(1, 5),
)


def both_findings(
    answer: ItemScoreOutput, quotes: list[Quote], quote_use: QuoteUse
) -> tuple[ItemFinding, ItemFinding]:
    """Return what the agents' rules say, and what the shipped contract says."""
    told = (Item.SLEEP, answer, quotes, "said".__eq__)
    verdict = item_verdict(*told, step=shipped_step("item"), quote_use=quote_use)
    found = (*verdict.errors, *verdict.warnings)
    of_contract = ItemFinding(
        errors=tuple(error.message for error in verdict.errors),
        rules=tuple(dict.fromkeys(error.rule for error in found)),
    )
    return check_item(*told, quote_use=quote_use), of_contract


@given(ANSWERS, st.lists(QUOTES, max_size=5), st.lists(st.integers(1, 4), min_size=4, max_size=4))
def test_agents_and_contract_say_the_same_of_an_item(
    answer: ItemScoreOutput, quotes: list[Quote], counts: list[int]
) -> None:
    places = [(Segment(turn=0, start=at, end=at + 1),) for at in range(4)]
    found, of_contract = both_findings(answer, quotes, dict(zip(places, counts, strict=True)))
    assert found == of_contract


@pytest.mark.parametrize("score", [None, 0, 1, 2, 3])
def test_agents_and_contract_say_the_same_of_each_quote(score: int | None) -> None:
    """Every combination of facts of one quote, and none, however sure the answer is."""
    facts = product(Relevance, Polarity, Timeframe, (True, False))
    single = [
        [replace(quote(polarity, timeframe, relevance), is_plain=is_plain)]
        for relevance, polarity, timeframe, is_plain in facts
    ]
    for quotes, confidence, reason in product([[], *single], [None, 5], ["", "because"]):
        answer = ItemScoreOutput(score=score, reason=reason, confidence=confidence)
        for count in (1, 2, 3):
            found, of_contract = both_findings(
                answer, quotes, {one.segments: count for one in quotes}
            )
            assert found == of_contract


def test_status_and_score_of_an_item_go_together() -> None:
    answer = {"item": ITEMS[0], "status": "na", "score": 1, "evidence": [], "reason": "none"}
    verdict = shipped_step("item").check_object(
        {**answer, "confidence": None},
        context={
            "quotes": [
                {
                    "relevance": "about",
                    "polarity": "affirmed",
                    "timeframe": "unstated",
                    "items": 1,
                }
            ]
        },
        host={"matches_quote": lambda _: True},
    )
    assert [error.rule for error in verdict.errors] == ["na_means_no_score"]


def item(name: str, score: int | None) -> dict[str, object]:
    is_known = score is not None
    return {
        "item": name,
        "status": "scored" if is_known else "na",
        "score": score,
        "unknown_reason": None if is_known else "no_mention",
    }


def assessment(*scores: int | None, **changes: object) -> dict[str, object]:
    """Return a sound assessment of eight items, with fields changed."""
    known = [score for score in scores if score is not None]
    low, high = sum(known), sum(known) + 3 * (len(scores) - len(known))
    total = low if low == high else None
    return {
        "items": [item(name, score) for name, score in zip(ITEMS, scores, strict=True)],
        "total": total,
        "total_min": low,
        "total_max": high,
        "severity": None if total is None else severity_of(total).value,
        **changes,
    }


WHOLE = (1, 2, 3, 0, 0, 1, 1, 2)
OPEN = (1, 2, 3, None, 0, 1, None, 2)


def with_item(scores: tuple[int | None, ...], at: int, **changes: object) -> dict[str, object]:
    whole = assessment(*scores)
    items = [item(name, score) for name, score in zip(ITEMS, scores, strict=True)]
    items[at] |= changes
    return {**whole, "items": items}


def checked(value: dict[str, object]) -> Verdict:
    return shipped_step("assessment").check_object(value)


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(WHOLE, id="whole"),
        pytest.param(OPEN, id="open"),
        pytest.param((0,) * 8, id="lowest"),
        pytest.param((3,) * 8, id="highest"),
        pytest.param((None,) * 8, id="nothing_known"),
        pytest.param((3, 2, 0, 0, 0, 0, 0, 0), id="first_of_a_band"),
        pytest.param((3, 3, 3, 0, 0, 0, 0, 0), id="last_of_a_band"),
    ],
)
def test_sound_assessments_pass(scores: tuple[int | None, ...]) -> None:
    assert checked(assessment(*scores)).errors == ()


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        pytest.param(with_item(WHOLE, 0, item=ITEMS[1]), ["eight_items_once"], id="an_item_twice"),
        pytest.param(
            with_item(OPEN, 0, status="na"), ["na_means_no_score"], id="status_against_score"
        ),
        pytest.param(
            with_item(OPEN, 3, unknown_reason=None), ["na_needs_reason"], id="unknown_untold"
        ),
        pytest.param(
            assessment(*WHOLE, total=9, severity=1), ["total_is_sum"], id="total_is_no_sum"
        ),
        pytest.param(
            assessment(*WHOLE, total=None, severity=None), ["total_is_sum"], id="total_left_out"
        ),
        pytest.param(assessment(*OPEN, total=9, severity=1), ["total_is_open"], id="total_guessed"),
        pytest.param(assessment(*OPEN, severity=2), ["total_is_open"], id="band_guessed"),
        pytest.param(assessment(*OPEN, total_min=8), ["total_has_range"], id="range_starts_low"),
        pytest.param(assessment(*OPEN, total_max=9), ["total_has_range"], id="unknown_as_zero"),
        pytest.param(assessment(*WHOLE, severity=1), ["band_follows_total"], id="other_band"),
        pytest.param(assessment(*WHOLE, severity=None), ["band_follows_total"], id="no_band"),
    ],
)
def test_unsound_assessments_fail_by_the_rule_they_break(
    value: dict[str, object], rules: list[str]
) -> None:
    verdict = checked(value)
    assert verdict.stage is FailureStage.VALIDATION
    assert [error.rule for error in verdict.errors] == rules


def test_seven_items_are_no_assessment() -> None:
    whole = assessment(*WHOLE)
    items = [item(name, score) for name, score in zip(ITEMS, WHOLE, strict=True)]
    verdict = checked({**whole, "items": items[:3] + items[4:]})
    assert [error.rule for error in verdict.errors] == ["eight_items_once"]


@pytest.mark.parametrize("score", ["2", "N/A", "", True])
def test_scores_are_read_from_no_other_type(score: object) -> None:
    verdict = checked(with_item(WHOLE, 0, score=score))
    assert verdict.stage is FailureStage.SCHEMA_VALIDATION
    assert verdict.coercions == ()
