"""Models of which it is known what their scores come from, behind the interface of any model."""

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ai_psychiatrist.agents.baseline.answers import Request, answer, read_request
from ai_psychiatrist.agents.baseline.scoring import scored_items
from ai_psychiatrist.agents.baseline.signals import analyse
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

Scored: TypeAlias = Mapping[str, object]
_HIGHEST: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedModel:
    """A model that finds evidence by the rules, and scores in a way of its own."""

    name: str
    is_honest: bool
    score: Callable[[Request], Scored] = field(repr=False)

    @property
    def model(self) -> str:
        """What it is called."""
        return self.name

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:  # noqa: ARG002
        """Answer the task of the user's text."""
        request = read_request(user_prompt)
        if request.task != "scoring":
            return ChatReply(text=await answer(user_prompt))
        return ChatReply(text=f"<answer>\n{json.dumps(dict(self.score(request)))}\n</answer>")

    @property
    def route(self) -> ModelEndpoint:
        """It as a model among others."""
        return ModelEndpoint(
            name=self.name, agent_model=None, chat=self, takes_tools=False, is_local=True
        )


def _by_item(score_of: Callable[[Request, Item], int | None]) -> Callable[[Request], Scored]:
    def scored(request: Request) -> Scored:
        scores = {item: score_of(request, item) for item in Item}
        return {
            item.value: {"evidence": [], "reason": "", "score": "N/A" if score is None else score}
            for item, score in scores.items()
        }

    return scored


def _reread(request: Request) -> Scored:
    """Score from the transcript as a whole, whatever quotes are given."""
    analysis = analyse(parse_transcript(request.transcript))
    return scored_items(analysis, {item.value: analysis.quotes(item) for item in Item})


def _prior(_: Request, item: Item) -> int:
    return [*Item].index(item) % 2


def _characters(request: Request, item: Item) -> int:
    return (len(request.transcript) + len(item)) % _HIGHEST


def _words(request: Request, item: Item) -> int:
    return (len(request.transcript.split()) + len(item)) % _HIGHEST


def _turns(request: Request, item: Item) -> int:
    return (request.transcript.count("\n") + len(item)) % _HIGHEST


def _questions(request: Request, item: Item) -> int:
    transcript = parse_transcript(request.transcript)
    asked = (
        transcript.words(turn) for turn in transcript.turns if turn.speaker is Speaker.INTERVIEWER
    )
    return (zlib.crc32("".join(asked).encode()) + len(item)) % _HIGHEST


def _quotes(request: Request, item: Item) -> int | None:
    """Score by how many quotes are given, whatever they say."""
    quotes = request.json_block("evidence").get(item.value)
    count = len(quotes) if isinstance(quotes, list) else 0
    return min(count, 3) if count else None


def _rules(request: Request) -> Scored:
    return scored_items(
        analyse(parse_transcript(request.transcript)), request.json_block("evidence")
    )


PLANTED: Final = (
    PlantedModel(name="rules over the quotes", is_honest=True, score=_rules),
    PlantedModel(name="rules over the whole transcript", is_honest=True, score=_reread),
    PlantedModel(name="a prior by item", is_honest=False, score=_by_item(_prior)),
    PlantedModel(name="length in characters", is_honest=False, score=_by_item(_characters)),
    PlantedModel(name="length in words", is_honest=False, score=_by_item(_words)),
    PlantedModel(name="length in turns", is_honest=False, score=_by_item(_turns)),
    PlantedModel(name="the interviewer's words", is_honest=False, score=_by_item(_questions)),
    PlantedModel(name="how many quotes there are", is_honest=False, score=_by_item(_quotes)),
)
