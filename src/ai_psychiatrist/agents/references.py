"""The references that scoring is shown: examples of other participants, scored, for each item."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ai_psychiatrist.domain.assessment import AssessmentMode, ItemAssessment, WantedScoring
from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.references import ShownReference
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.outside_work import outside_work
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.services.retrieval.found import ItemReferences
from ai_psychiatrist.services.retrieval.identity import Identity, identity_of

Evidence = Mapping[Item, Sequence[Quote]]


class ReferenceSource(Protocol):
    """Where references are looked up; none of them is ever of the excluded person."""

    @property
    def digest(self) -> str:
        """Of all that there is: 64 hexadecimal digits."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Where a search for likeness sends the evidence; empty for one in this process."""

    async def references_for(
        self, evidence: Evidence, excluded: Identity
    ) -> Mapping[Item, ItemReferences]:
        """Return those that are like the evidence; raises `ModelCallFailed`."""

    async def random_references(
        self, evidence: Evidence, excluded: Identity
    ) -> Mapping[Item, ItemReferences]:
        """Return such as are drawn blindly for the same items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReferences:
    """What scoring is shown of other participants."""

    of: Mapping[Item, ItemReferences]

    @property
    def text(self) -> str:
        """The references as JSON: item key -> scores and lines; items without any are left out."""
        shown = {
            item.value: [
                {"score": one.score, "interview": one.text.splitlines()} for one in found.references
            ]
            for item, found in self.of.items()
            if found.references
        }
        return json.dumps(shown, ensure_ascii=False, indent=1)

    def told_in(self, assessment: ItemAssessment) -> ItemAssessment:
        """Return an item with the account of its references."""
        found = self.of[assessment.item]
        return replace(
            assessment,
            references=tuple(
                ShownReference(
                    chunk=one.chunk, digest=one.digest, score=one.score, similarity=one.similarity
                )
                for one in found.references
            ),
            no_references=found.none_because,
        )


async def shown_references(
    source: ReferenceSource,
    evidence: Mapping[str, Sequence[Quote]],
    transcript: Transcript,
    scoring: WantedScoring,
) -> ShownReferences:
    """Look up what the mode shows; `evidence`: item key -> grounded quotes.

    Raises `ModelCallFailed` where the server that tells likeness gives nothing.
    """
    identity = partial(identity_of, participant_id=scoring.participant, session_id=scoring.session)
    excluded = await work_on_text(transcript.text, identity, transcript)
    quotes = {Item(key): found for key, found in evidence.items()}
    with outside_work():
        if scoring.mode is AssessmentMode.RANDOM_REFERENCES:
            return ShownReferences(of=await source.random_references(quotes, excluded))
        return ShownReferences(of=await source.references_for(quotes, excluded))


def required(mode: AssessmentMode, source: ReferenceSource | None) -> ReferenceSource:
    """Return the source; raises `RequestConflict` with the cure where there is none."""
    if source is None:
        raise RequestConflict(
            f"mode {mode.value} shows references, and none are configured: set REFERENCES_DIR to a "
            "folder that `ai-psychiatrist references build` made, or use mode "
            f"{AssessmentMode.ZERO_SHOT.value}",
            field="mode",
        )
    return source
