"""What a run will take, before anything is paid: units, calls, tokens, and their price."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Final

from ai_psychiatrist.agents.prompts.shared import SYSTEM
from ai_psychiatrist.agents.prompts.tasks import SCORING_TASKS, Tasks
from ai_psychiatrist.agents.pydantic_agents import (
    ABLATION,
    BELIEF_DECISION,
    BELIEF_TOKENS,
    DANGER,
    EVIDENCE,
    JUDGE,
    JUDGES,
    META_REVIEW,
    QUALITATIVE,
    QUANTITATIVE,
    RESCORING,
)
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.pricing.prices import (
    CallTokens,
    PriceList,
    summed,
    total_of,
    usd_number,
)
from ai_psychiatrist.llm.providers import ANTHROPIC, provider_of

ASKED_AGAIN: Final = 0.05
"""Share of calls that are made again, because a reply is refused or none comes."""
REFINED: Final = 0.5
"""How often the findings of a unit are refined, on average."""
ABLATED: Final = 10
"""Scorings of changed transcripts, where the run makes them."""
BYTES_PER_TOKEN: Final = 4.0
"""Of UTF-8, as in few-shot scoring: near to what tokenizers make of English."""
LEAST_CACHED_TOKENS: Final = 1024
"""Shorter prefixes are kept by no provider; some ask for more."""
MOST_MEASURED: Final = 2000
"""Transcripts; of more than these, so many are read, spread over all, and stand for the rest."""

ESTIMATE: Final = (
    "tokens are estimated: one for four bytes of UTF-8 that are sent, and a usual length for each "
    "reply; a run of a few units (--limit) shows how far off that is for these models"
)
ASSUMED: Final = (
    f"expected: {ASKED_AGAIN:.0%} of the calls are made again and every second unit's findings are "
    "refined once; least: every first reply passes; most: as MODEL_MAX_CALLS allows"
)
REPLY_TOKENS: Final = {
    "qualitative": 900,
    "evidence": 500,
    "quantitative": 900,
    "judge": 120,
    "judges": 400,
    "meta_review": 180,
    "danger": 150,
    "ablation": 900,
    "rescoring": 900,
    "belief_tokens": 1,
    "belief_decision": 100,
}
"""Of a reply without thinking; models that think write more, which is paid as well."""

_JUDGES: Final = tuple(judge.name for judge in JUDGE.values())
"""The four that begin at the same time, where judgement is not one call."""
_CHAINS: Final = {
    EVIDENCE.name: QUANTITATIVE.name,
    ABLATION.name: QUANTITATIVE.name,
    JUDGES.name: "judge",
    **dict.fromkeys(_JUDGES, "judge"),
}
"""Agents that ask another one's models."""
_WRITES_PAID: Final = frozenset({ANTHROPIC})
"""What is put into their cache is paid for as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What decides which calls are made."""

    models: Mapping[str, tuple[str, ...]]
    """Agent → chain of models, of which the first is counted on."""
    tasks: Tasks
    mode: AssessmentMode
    is_judged_together: bool
    is_refined: bool
    ablates: bool
    rescorings: int
    reference_tokens: int
    """Of examples of other participants in one scoring, at most; 0 in a mode that shows none."""
    max_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The transcripts of a run."""

    units: int
    unreadable: int
    """Those of the measured ones that cannot be read, and cost no call."""
    tokens: Sequence[float]
    """Of each that was measured, with the marks around it."""

    @property
    def weight(self) -> float:
        """How many readable units each measured one stands for."""
        read = len(self.tokens) + self.unreadable
        return self.units / read if read else 0.0


@dataclass(frozen=True, slots=True)
class _Step:
    """The calls of one agent for one unit, before it is known which model answers."""

    agent: str
    task: str
    least: int = 1
    expected: float = 1.0
    beside_tokens: float = 0.0
    """What one call sends next to the transcript and its task."""
    is_first: bool = False
    """Whether it begins with the unit, at the same time as others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """What one agent asks one model in a whole run, or all agents ask it."""

    agent: str | None
    """`None` for all of them."""
    model: str
    calls: float
    tokens: CallTokens
    live_usd: Decimal | None
    batch_usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What a run will take, by agent and model."""

    units: int
    measured: int
    unreadable: int
    least_calls: int
    expected_calls: float
    most_calls: int
    is_first_ahead: bool
    by_agent: tuple[PlannedCalls, ...]
    price_sources: Mapping[str, str | None]
    """Model → where its price is from; `None` where none is known."""

    @property
    def live_usd(self) -> Decimal | None:
        """Of all models, `None` where one has no price."""
        return total_of(one.live_usd for one in self.by_agent)

    @property
    def by_model(self) -> list[PlannedCalls]:
        """What all agents ask each model."""
        return _merged([replace(one, agent=None) for one in self.by_agent])

    @property
    def whole(self) -> PlannedCalls:
        """What all agents ask all models, as a row named `all`."""
        return PlannedCalls(
            agent=None,
            model="all",
            calls=self.expected_calls,
            tokens=summed(one.tokens for one in self.by_agent),
            live_usd=self.live_usd,
            batch_usd=total_of(one.batch_usd for one in self.by_agent),
        )

    def as_json(self) -> dict[str, object]:
        """Return all of it; money in USD, `null` where no price is known."""
        whole = self.whole
        return {
            "units": self.units,
            "transcripts": {"measured": self.measured, "unreadable": self.unreadable},
            "calls": {
                "least": self.least_calls,
                "expected": round(whole.calls),
                "most": self.most_calls,
            },
            "tokens": asdict(whole.tokens),
            "cache_share": round(whole.tokens.cache_share, 4),
            "first_call_ahead": self.is_first_ahead,
            "live_usd": usd_number(whole.live_usd),
            "batch_usd": usd_number(whole.batch_usd),
            "by_model": [
                {
                    "model": one.model,
                    "calls": round(one.calls),
                    "tokens": asdict(one.tokens),
                    "price": self.price_sources[one.model],
                    "live_usd": usd_number(one.live_usd),
                    "batch_usd": usd_number(one.batch_usd),
                }
                for one in self.by_model
            ],
            "by_agent": [
                {
                    "agent": one.agent,
                    "model": one.model,
                    "calls": round(one.calls),
                    "tokens": asdict(one.tokens),
                    "live_usd": usd_number(one.live_usd),
                    "batch_usd": usd_number(one.batch_usd),
                }
                for one in self.by_agent
            ],
            "estimate": [ESTIMATE, ASSUMED],
        }


def tokens_of(text: str) -> float:
    """Return about how many tokens a text has."""
    return len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN


def plan_run(
    measured: Measured, choices: Choices, prices: PriceList, *, is_first_ahead: bool
) -> RunPlan:
    """Return what a run over such transcripts will take.

    `is_first_ahead`: whether a unit's first call goes alone where the provider caches prefixes.
    """
    models = {step: _model_of(step, choices) for step in _steps(choices)}
    asked = {step: model for step, model in models.items() if model is not None}
    readable = round(len(measured.tokens) * measured.weight)
    by_agent = []
    for step, model in asked.items():
        same = [other for other in asked if asked[other] == model]
        is_cold = step in _cold(same, is_first_ahead=is_first_ahead)
        sent_beside = tokens_of(choices.tasks[step.task]) + step.beside_tokens + tokens_of(SYSTEM)
        by_agent.append(_planned(step, model, measured, prices, sent_beside, is_cold=is_cold))
    return RunPlan(
        units=measured.units,
        measured=len(measured.tokens) + measured.unreadable,
        unreadable=measured.unreadable,
        least_calls=readable * sum(step.least for step in asked),
        expected_calls=readable * sum(step.expected * (1 + ASKED_AGAIN) for step in asked),
        most_calls=readable * choices.max_calls,
        is_first_ahead=is_first_ahead,
        by_agent=tuple(_merged(by_agent)),
        price_sources={model: prices.source(model) for model in asked.values()},
    )


def together(plans: Sequence[RunPlan]) -> RunPlan:
    """Return the plan of one run or several over the same units, of the same models."""
    return replace(
        plans[0],
        units=sum(plan.units for plan in plans),
        least_calls=sum(plan.least_calls for plan in plans),
        expected_calls=sum(plan.expected_calls for plan in plans),
        most_calls=sum(plan.most_calls for plan in plans),
        by_agent=tuple(_merged([one for plan in plans for one in plan.by_agent])),
    )


def _steps(choices: Choices) -> list[_Step]:
    """Return the steps of a unit whose models answer as they should."""
    refined = REFINED if choices.is_refined else 0.0
    findings = REPLY_TOKENS["qualitative"]
    scoring = SCORING_TASKS[choices.mode]
    shown = REPLY_TOKENS["evidence"] + choices.reference_tokens
    ablated = ABLATED if choices.ablates else 0
    feedback = findings + REPLY_TOKENS["judges"]
    judges = (JUDGES.name,) if choices.is_judged_together else _JUDGES
    reviewed = findings + REPLY_TOKENS["quantitative"]
    steps = (
        _Step(QUALITATIVE.name, "qualitative", is_first=True),
        _Step(QUALITATIVE.name, "qualitative_refine", 0, refined, feedback),
        *(_Step(judge, judge, 1, 1 + refined, findings) for judge in judges),
        _Step(EVIDENCE.name, "evidence", is_first=True),
        _Step(QUANTITATIVE.name, scoring, beside_tokens=shown),
        _Step(ABLATION.name, scoring, 0, ablated, shown),
        _Step(RESCORING.name, scoring, 0, choices.rescorings, shown),
        _Step(BELIEF_TOKENS, "belief_tokens", 0, len(Item), 100),
        _Step(BELIEF_DECISION, "belief_tokens", 0, len(Item), 100),
        _Step(META_REVIEW.name, "meta_review", beside_tokens=reviewed),
        _Step(DANGER.name, "danger", is_first=True),
    )
    return [step for step in steps if step.expected]


def _model_of(step: _Step, choices: Choices) -> str | None:
    """Return the model that a step asks, `None` for an agent that has none in this run."""
    chain = choices.models.get(_CHAINS.get(step.agent, step.agent))
    return chain[0] if chain else None


def _cold(steps: Sequence[_Step], *, is_first_ahead: bool) -> Sequence[_Step]:
    """Return those of the steps of a model whose first call finds nothing in its cache.

    Those are the ones that begin at the same time, or the first alone where it goes ahead.
    """
    if is_first_ahead:
        return steps[:1]
    beginning = [step for step in steps if step.is_first]
    return beginning or [step for step in steps if step.agent in _JUDGES] or steps[:1]


def _planned(
    step: _Step,
    model: str,
    measured: Measured,
    prices: PriceList,
    sent_beside: float,
    *,
    is_cold: bool,
) -> PlannedCalls:
    weight, provider = measured.weight, provider_of(model)
    expected = step.expected * (1 + ASKED_AGAIN)
    is_cached = provider is not None and provider.caches_prefixes
    found = max(expected - is_cold, 0.0) if is_cached else 0.0
    cacheable = sum(one for one in measured.tokens if one >= LEAST_CACHED_TOKENS)
    units = len(measured.tokens)
    calls = expected * units * weight
    written = (expected - found) if provider in _WRITES_PAID else 0.0
    reply = REPLY_TOKENS.get(step.agent, REPLY_TOKENS["judge"])
    tokens = CallTokens(
        input=round(expected * weight * (sum(measured.tokens) + units * sent_beside)),
        output=round(calls * reply),
        cache_read=round(found * weight * cacheable),
        cache_write=round(written * weight * cacheable),
    )
    uncached = CallTokens(input=tokens.input, output=tokens.output)
    return PlannedCalls(
        agent=step.agent,
        model=model,
        calls=calls,
        tokens=tokens,
        live_usd=prices.usd_of_calls(model, tokens, calls),
        batch_usd=prices.usd_of_calls(model, uncached, calls, is_batch=True),
    )


def _merged(planned: Sequence[PlannedCalls]) -> list[PlannedCalls]:
    """Return one row for each agent and model."""
    rows: dict[tuple[str | None, str], list[PlannedCalls]] = defaultdict(list)
    for one in planned:
        rows[one.agent, one.model].append(one)
    return [
        PlannedCalls(
            agent=agent,
            model=model,
            calls=sum(one.calls for one in ones),
            tokens=summed(one.tokens for one in ones),
            live_usd=total_of(one.live_usd for one in ones),
            batch_usd=total_of(one.batch_usd for one in ones),
        )
        for (agent, model), ones in rows.items()
    ]
