"""Builders for interviews: a service over a file, and short ways to answer."""

import asyncio
import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fakes.interview_stores import open_interviews

from ai_psychiatrist.domain.interview import AnswerKind, Question
from ai_psychiatrist.domain.interview_items import AssessedItem, AssessmentInput, ItemOutcome
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.danger import DangerReader
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.protocol import InterviewProtocol, load_protocol
from ai_psychiatrist.interview.service import (
    AnswerSubmission,
    InterviewLimits,
    InterviewService,
)
from ai_psychiatrist.interview.snapshot import InterviewSnapshot

INCIDENT_INPUTS: Mapping[str, str | int] = {
    "title": "The kettle",
    "summary": "Somebody broke the kettle on Monday.",
    "interviewee_name": "Ana",
    "interviewee_role": "made tea that day",
    "confidence_threshold": 90,
}
PROTOCOLS: Mapping[str, InterviewProtocol] = {
    name: load_protocol(name) for name in ("phq8", "incident")
}
OPEN = (Item.SLEEP, Item.TIRED, Item.MOVING)
RIGHT = "=No, this is right"
"""Ends an interview about items: what was noted stays."""
_KEYS = itertools.count(1)


@dataclass(slots=True)
class Desk:
    """A service with the interview that is led at it."""

    service: InterviewService
    store: InterviewStore
    snapshot: InterviewSnapshot = field(init=False)

    async def begin(
        self, protocol: str = "phq8", *, assessment: AssessmentInput | None = None, **inputs: object
    ) -> InterviewSnapshot:
        """Create the interview."""
        given = {**INCIDENT_INPUTS, **inputs} if protocol == "incident" else {}
        self.snapshot = await self.service.create(protocol, given, assessment)  # type: ignore[arg-type]
        return self.snapshot

    @property
    def question(self) -> Question:
        """The question that waits."""
        assert self.snapshot.question is not None
        return self.snapshot.question

    async def choose(self, text: str) -> InterviewSnapshot:
        """Answer by the option of that wording."""
        option = next(one for one in self.question.options if one.text == text)
        return await self.send(option_id=option.id)

    async def decline(self) -> InterviewSnapshot:
        """Answer by the refusal."""
        option = next(one for one in self.question.options if one.kind is AnswerKind.DECLINE)
        return await self.send(option_id=option.id)

    async def say(self, text: str) -> InterviewSnapshot:
        """Answer in free text."""
        return await self.send(text=text)

    async def answer(self, *said: str) -> InterviewSnapshot:
        """Answer one after the other; what begins with `=` chooses the option of that wording."""
        for text in said:
            await (self.choose(text[1:]) if text.startswith("=") else self.say(text))
        return self.snapshot

    async def stop(self) -> InterviewSnapshot:
        """End the interview."""
        return await self.send(is_stop=True)

    def submission(self, **answer: object) -> AnswerSubmission:
        """Return an answer to the question that waits, under a key of its own."""
        plain: dict[str, object] = {
            "question_id": self.snapshot.question.id if self.snapshot.question else "q0",
            "idempotency_key": f"key{next(_KEYS)}",
            "version": self.snapshot.version,
        }
        return AnswerSubmission(**{**plain, **answer})  # type: ignore[arg-type]

    async def send(self, **answer: object) -> InterviewSnapshot:
        """Send an answer to the question that waits."""
        self.snapshot = await self.service.answer(self.snapshot.id, self.submission(**answer))
        return self.snapshot

    async def read(self) -> InterviewSnapshot:
        """Read the interview again."""
        self.snapshot = await self.service.get(self.snapshot.id)
        return self.snapshot

    async def retry(self) -> InterviewSnapshot:
        """Have the step tried that failed or was cut short."""
        self.snapshot = await self.service.retry(self.snapshot.id)
        return self.snapshot

    def outcome(self, item: Item) -> ItemOutcome:
        """Return an item as it stands."""
        return next(one for one in self.snapshot.items if one.item is item)

    def scores(self, *items: Item) -> list[int | None]:
        """Return the scores of some items as they stand."""
        return [self.outcome(item).score for item in items]

    def asks(self, item: Item) -> int:
        """Return how often an item was asked about."""
        return next(goal.asks for goal in self.snapshot.goals if goal.item is item)


@contextmanager
def desk(
    place: Path | InterviewStore,
    agents: InterviewAgentsPort | None = None,
    *,
    danger: DangerReader | None = None,
    limits: InterviewLimits | None = None,
    protocols: Mapping[str, InterviewProtocol] = PROTOCOLS,
    is_first: bool = False,
) -> Iterator[Desk]:
    """Open a service over the file of a folder, as a program does that starts, or over a store.

    `is_first`: whether a new store makes its tables itself, and finds none that were copied.
    """
    with (
        nullcontext(place)
        if isinstance(place, InterviewStore)
        else opened(place, is_first=is_first) as store
    ):
        service = InterviewService(protocols, store, agents, danger=danger, limits=limits)
        yield Desk(service, store)


@contextmanager
def opened(folder: Path, *, is_first: bool = False) -> Iterator[InterviewStore]:
    """Open the store of a folder."""
    if not (is_first or any(folder.glob("*.sqlite"))):
        folder.mkdir(mode=0o700, exist_ok=True)
        for name, content in files_of_new_store().items():
            (folder / name).touch(mode=0o600)
            (folder / name).write_bytes(content)
    store = open_interviews(folder)
    try:
        yield store
    finally:
        store.close()


def lead(
    interviews: InterviewStore,
    *said: str,
    unknown: tuple[Item, ...] = OPEN,
    agents: InterviewAgentsPort | None = None,
    danger: DangerReader | None = None,
    limits: InterviewLimits | None = None,
    protocols: Mapping[str, InterviewProtocol] = PROTOCOLS,
) -> Desk:
    """Lead an interview about some items, and return how it stands."""

    async def sit(at: Desk) -> None:
        await at.begin(assessment=assessed(*unknown))
        await at.answer(*said)

    with desk(interviews, agents, danger=danger, limits=limits, protocols=protocols) as at:
        asyncio.run(sit(at))
    return at


def go_on(at: Desk, *said: str) -> None:
    """Lead an interview further."""
    asyncio.run(at.answer(*said))


@cache
def files_of_new_store() -> Mapping[str, bytes]:
    """Return the files of a store that was opened and closed: to make tables takes most of it."""
    with TemporaryDirectory() as folder:
        open_interviews(Path(folder)).close()
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def assessed(*unknown: Item, score: int = 2) -> AssessmentInput:
    """Return an assessment in which all items but those named have a score."""
    return AssessmentInput(
        items={
            item: AssessedItem(score=None, unknown_reason=UnknownReason.NO_MENTION)
            if item in unknown
            else AssessedItem(score=score, evidence=(f"quote about {item.label}",))
            for item in Item
        }
    )
