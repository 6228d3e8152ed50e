"""One transcript under assessment: what all its prompts share, and how many calls are left."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

from ai_psychiatrist.agents.prompts.shared import DELIMITED, NO_NOTES, NOTES, PART, SYSTEM
from ai_psychiatrist.agents.prompts.tasks import TASKS, Tasks
from ai_psychiatrist.agents.references import ReferenceSource
from ai_psychiatrist.domain.assessment import DEFAULT_SCORING, ScoringOptions
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import numbered_part
from ai_psychiatrist.infrastructure.off_loop import (
    is_for_process,
    run_in_process,
    run_in_thread,
)
from ai_psychiatrist.llm.calls import (
    DEFAULT_MAX_CALLS,
    CallBudget,
    CallRecorder,
    CallStore,
)
from ai_psychiatrist.llm.control_tokens import without_control_tokens
from ai_psychiatrist.llm.definition import Prompt
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    DEFAULT_FUZZY_THRESHOLD,
    GroundingMode,
    TranscriptIndex,
    ground_all,
)
from ai_psychiatrist.services.reader.reading import TranscriptReading
from ai_psychiatrist.services.transcripts.rendering import parts_for_models, rendered_for_models

T = TypeVar("T")

_BOUNDARY_DIGITS: Final = 16
_SHARED_INDEX_CHARACTERS: Final = 12_000
"""Up to here quotes are found in a thread, by the index that all agents share: a process would get
the transcript, and index it, each time again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentContext:
    """A transcript with the block that all prompts about it begin with."""

    transcript: Transcript
    participant_id: int | None
    boundary: str
    """Marks the blocks of the prompts; no text inside a block can hold it."""
    transcript_block: str = field(repr=False)
    part_blocks: tuple[str, ...] = field(default=(), repr=False)
    """What takes its place in prompts about one part of a long interview; empty for one that is
    read whole."""
    part: int = 0
    """Which part the prompts are about, from 1; 0 for the whole."""
    index: TranscriptIndex = field(repr=False)
    assertions: AssertionClassifier = field(repr=False)
    calls: CallRecorder = field(repr=False)
    tasks: Tasks = field(repr=False)
    """What the agents are asked."""
    learned_reading: TranscriptReading = field(default_factory=TranscriptReading, repr=False)
    """What the learned reader says of the transcript."""
    scoring: ScoringOptions = DEFAULT_SCORING
    references: ReferenceSource | None = field(default=None, repr=False)
    """Where scoring finds examples of other participants; `None` where there are none."""
    shown_blocks: dict[str, str] = field(default_factory=dict, repr=False)
    """Block name → text, of what scoring was shown besides transcript and evidence.

    It is looked up once and shared with what is scored again, so that only the change differs.
    """

    def in_parts(self, most_characters: int) -> "AssessmentContext":
        """Return the context of an interview that is read in parts of at most so many characters.

        One that is no longer than that is read whole.
        """
        texts = parts_for_models(self.transcript, most_characters)
        is_delimited = self.transcript_block.startswith(DELIMITED)
        blocks = (
            f"{PART.format(number=number, count=len(texts))}\n"
            f"{_block(text, self.boundary, is_delimited=is_delimited)}"
            for number, text in enumerate(texts, start=1)
        )
        return replace(self, part_blocks=tuple(blocks))

    @property
    def part_numbers(self) -> range:
        """The number of each part, from 1; 0 alone where the interview is read whole."""
        return range(1, len(self.part_blocks) + 1) if self.part_blocks else range(1)

    async def of_parts(self, ask: Callable[["AssessmentContext"], Awaitable[T]]) -> list[T]:
        """Return what is answered about each part, all asked at the same time.

        Each may spend an equal share of the calls that are left.
        """
        if not self.part_blocks:
            return [await ask(self)]

        async def asked(context: AssessmentContext) -> T:
            with numbered_part(context.part):
                return await ask(context)

        count = len(self.part_blocks)
        with self.calls.budget.shared(count) as shares, self.apart(count) as contexts:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(
                        asked(replace(own.within(share), transcript_block=block, part=number))
                    )
                    for own, share, block, number in zip(
                        contexts, shares, self.part_blocks, self.part_numbers, strict=True
                    )
                ]
        return [task.result() for task in tasks]

    def with_notes(
        self, notes: Sequence[str | None], quotes: Mapping[str, Sequence[str]] | None
    ) -> "AssessmentContext":
        """Return the context whose prompts show notes on the parts in place of the transcript.

        `notes`: of each part, `None` for one that was not read. `quotes`: item key → the grounded
        quotes; `None` where none were looked for.
        """
        told = (
            f"Part {number} of {len(notes)}\n{text or NO_NOTES}"
            for number, text in enumerate(notes, start=1)
        )
        blocks = [
            NOTES.format(count=len(notes)),
            marked_block("notes", self.boundary, "\n\n".join(told)),
        ]
        if quotes is not None:
            listed = json.dumps(quotes, ensure_ascii=False, indent=1)
            blocks.append(marked_block("words", self.boundary, listed))
        return replace(self, transcript_block="\n".join(blocks), part_blocks=())

    def within(self, budget: CallBudget) -> "AssessmentContext":
        """Return the context for an agent that may spend this budget."""
        return replace(self, calls=replace(self.calls, budget=budget))

    @contextmanager
    def apart(self, count: int) -> Iterator[list["AssessmentContext"]]:
        """Yield contexts for calls at the same time, each with an account of its own.

        However the block ends, they then stand in this context's account in the order of the
        contexts, whichever call ended first.
        """
        contexts = [replace(self, calls=replace(self.calls, attempts=[])) for _ in range(count)]
        try:
            yield contexts
        finally:
            for own in contexts:
                self.calls.attempts.extend(own.calls.attempts)

    def changed_to(self, transcript: Transcript) -> "AssessmentContext":
        """Return the context of another transcript with the same turns, under the same budget."""
        boundary = boundary_for(transcript.text)
        is_delimited = self.transcript_block.startswith(DELIMITED)
        changed = replace(
            self,
            transcript=transcript,
            boundary=boundary,
            transcript_block=_transcript_block(transcript, boundary, is_delimited=is_delimited),
            index=TranscriptIndex(transcript),
            assertions=AssertionClassifier(transcript, self.assertions.unread),
            learned_reading=self.learned_reading.of_changed(transcript),
        )
        changed.share_transcript()
        return changed

    def share_transcript(self) -> None:
        """Let the rule baseline have the transcript as it was read, and not as prompts show it."""
        shared_transcripts().contexts[self.boundary] = self

    def prompt(self, task: str, **blocks: str) -> Prompt:
        """Render a task whose placeholders are named like the blocks."""
        marked = {name: marked_block(name, self.boundary, text) for name, text in blocks.items()}
        shared = f"{self.transcript_block}\n\n"
        return Prompt(
            system=SYSTEM, user=f"{shared}{task.format(**marked)}", stable_characters=len(shared)
        )

    async def look_up(
        self,
        quotes: Iterable[str],
        *,
        mode: GroundingMode = "substring",
        fuzzy_threshold: float = DEFAULT_FUZZY_THRESHOLD,
    ) -> None:
        """Find quotes in a large transcript off the event loop; the index then knows them."""
        text = self.transcript.text
        if not is_for_process(text):
            return
        wanted = self.index.unknown(quotes, mode=mode, fuzzy_threshold=fuzzy_threshold)
        if len(text) <= _SHARED_INDEX_CHARACTERS:
            await run_in_thread(partial(self.index.look_up, wanted))
        elif wanted:
            self.index.remember(await run_in_process(text, ground_all, self.transcript, wanted))


def assessment_context(
    transcript: Transcript,
    *,
    participant_id: int | None = None,
    max_calls: int = DEFAULT_MAX_CALLS,
    is_delimited: bool = False,
    store: CallStore | None = None,
    unread: frozenset[int] = frozenset(),
    tasks: Tasks = TASKS,
    scoring: ScoringOptions = DEFAULT_SCORING,
    references: ReferenceSource | None = None,
) -> AssessmentContext:
    """Prepare a transcript for its calls.

    The boundary is a digest of the transcript under the installation's key: no author of a
    transcript can know it, and the same transcript always gets the same one. `is_delimited` adds a
    sentence that says that the transcript is data. `store`: where the calls are kept. `unread`:
    turns in a language that is not read. `tasks`: those of all agents. `scoring`: how the caller
    wants the items scored. `references`: where examples of other participants are found.
    """
    boundary = boundary_for(transcript.text)
    return AssessmentContext(
        transcript=transcript,
        participant_id=participant_id,
        boundary=boundary,
        transcript_block=_transcript_block(transcript, boundary, is_delimited=is_delimited),
        index=TranscriptIndex(transcript),
        assertions=AssertionClassifier(transcript, unread),
        calls=CallRecorder.of(max_calls, store=store),
        tasks=tasks,
        scoring=scoring,
        references=references,
    )


def boundary_for(text: str) -> str:
    """Return a mark that the text does not hold and its author cannot know."""
    boundary = keyed_digest(text, length=_BOUNDARY_DIGITS)
    while boundary in text:
        boundary = keyed_digest(f"{boundary}{text}", length=_BOUNDARY_DIGITS)
    return boundary


def marked_block(name: str, boundary: str, text: str) -> str:
    """Mark a text as data that begins no turn of its own and cannot close its block."""
    # The dash keeps what stands around a boundary from forming it again.
    text = without_control_tokens(text.replace(boundary, "-"))
    return f"<{name}-{boundary}>\n{text}\n</{name}-{boundary}>"


def _transcript_block(transcript: Transcript, boundary: str, *, is_delimited: bool) -> str:
    return _block(rendered_for_models(transcript), boundary, is_delimited=is_delimited)


def _block(text: str, boundary: str, *, is_delimited: bool) -> str:
    block = marked_block("transcript", boundary, text)
    return f"{DELIMITED}\n{block}" if is_delimited else block


@dataclass(frozen=True, slots=True)
class SharedTranscripts:
    """The transcripts of one assessment, by the boundary that marks each in prompts.

    A prompt holds a transcript as text. Read again from there, with labels that only the caller
    knows, it could be another one, or none.
    """

    contexts: dict[str, AssessmentContext] = field(default_factory=dict, repr=False)
    analyses: dict[str, object] = field(default_factory=dict, repr=False)
    """What the rule baseline makes of each, once for all of its tasks."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


_shared: Final[ContextVar[SharedTranscripts | None]] = ContextVar("shared", default=None)


def shared_transcripts() -> SharedTranscripts:
    """Return what the tasks of the assessment under way share; nothing outside of one."""
    return _shared.get() or SharedTranscripts()


@contextmanager
def sharing_transcripts() -> Iterator[None]:
    """Let the tasks that begin inside the block share the transcripts."""
    shared = SharedTranscripts()
    token = _shared.set(shared)
    try:
        yield
    finally:
        _shared.reset(token)
        # Timers of connections keep the context that they were made in, and all that it holds.
        shared.contexts.clear()
        shared.analyses.clear()
