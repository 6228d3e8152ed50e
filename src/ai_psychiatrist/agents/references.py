"""The references that scoring is shown: examples of other participants, scored, for each item."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from ai_psychiatrist.domain.assessment import AssessmentMode, ScoringOptions
from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.items import ItemAssessment, NoReferences
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.off_loop import work_on_text
from ai_psychiatrist.services.retrieval.identity import identity_of

if TYPE_CHECKING:
    from ai_psychiatrist.services.retrieval.references import ItemReferences, References


@dataclass(slots=True, kw_only=True)
class ReferenceSource:
    """Where references are looked up; what does not use them does not read them either."""

    load: "Callable[[], References]"
    """Reads and checks them; it blocks."""
    hosts: Callable[[], tuple[str, ...]]
    """Where a search for likeness sends the evidence; none for one in this process."""
    seed: int
    """Of references that are drawn blindly."""
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    _opened: "References | None" = field(default=None, repr=False)

    async def open(self) -> "References":
        """Return the references, opened and checked once.

        Raises `ConfigurationError` and `ArtifactMismatch` for those that cannot be used.
        """
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self.load)
            return self._opened

    @property
    def digest(self) -> str:
        """Of all that there is: 64 hexadecimal digits."""
        if self._opened is None:
            msg = "the references are not open"
            raise RuntimeError(msg)
        return self._opened.artefact.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReferences:
    """What scoring is shown of other participants."""

    of: "Mapping[Item, ItemReferences]"

    @property
    def text(self) -> str:
        """The references as JSON: item key -> scores and lines; items without any are left out."""
        shown = {
            item.value: [
                {"score": one.shown.score, "interview": one.text.splitlines()} for one in found
            ]
            for item, found in self.of.items()
            if not isinstance(found, NoReferences)
        }
        return json.dumps(shown, ensure_ascii=False, indent=1)

    def recorded_in(self, assessment: ItemAssessment) -> ItemAssessment:
        """Return an item with the account of its references."""
        found = self.of[assessment.item]
        if isinstance(found, NoReferences):
            return replace(assessment, no_references=found)
        return replace(assessment, references=tuple(one.shown for one in found))


async def shown_references(
    source: ReferenceSource,
    evidence: Mapping[str, Sequence[Quote]],
    transcript: Transcript,
    scoring: ScoringOptions,
) -> ShownReferences:
    """Look up what the mode shows; `evidence`: item key -> grounded quotes.

    Raises `ModelCallFailed` where the server that tells likeness gives nothing.
    """
    identity = partial(identity_of, participant_id=scoring.participant, session_id=scoring.session)
    excluded = await work_on_text(transcript.text, identity, transcript)
    quotes = {Item(key): found for key, found in evidence.items()}
    references = await source.open()
    is_drawn = scoring.mode is AssessmentMode.RANDOM_REFERENCES
    drawn_by = source.seed if is_drawn else None
    return ShownReferences(of=await references.references_for(quotes, excluded, drawn_by=drawn_by))


def required(mode: AssessmentMode, source: ReferenceSource | None) -> ReferenceSource:
    """Return the source; raises `RequestConflict` with the cure where there is none."""
    if source is None:
        raise RequestConflict(
            "not_available",
            f"mode {mode.value} shows references, and none are configured: set REFERENCES_DIR to a "
            "folder that `ai-psychiatrist references build` made, or use mode "
            f"{AssessmentMode.ZERO_SHOT.value}",
            field="mode",
        )
    return source
