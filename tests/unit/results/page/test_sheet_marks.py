"""Marks tile the words of a turn, and each one holds exactly the words that it stands for."""

import json
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st
from tests.fakes.parsed_page import ParsedPage
from tests.fakes.shown_results import EXAMPLE, eventful_fields

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import SpeakersUnknown
from ai_psychiatrist.domain.evidence import Match, Quote
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.results.page.pages import sheet_html
from ai_psychiatrist.results.page.views import CardView, Span, pieces_of, sheet_view
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

ODD = (
    "ab \r\n\n\t\"'<&>;\ufeff"
    "\u0301\u200f\u05d0\u0645\u202e\U0001f600\U0001f469\u200d\U0001f467\u00e9"
)
"""Line ends, marks of encodings, accents, letters from right to left, pictures, and markup."""
SAID = Quote(text="", match=Match.EXACT, segments=())


@st.composite
def marked_turns(draw: st.DrawFn) -> tuple[str, int, int, list[Span]]:
    text = draw(st.text(st.sampled_from(ODD), min_size=2, max_size=60))
    places = st.integers(0, len(text))
    start, end = sorted((draw(places), draw(places)))
    spans = []
    for owner in range(draw(st.integers(0, 5))):
        first, last = sorted((draw(places), draw(places)))
        spans.append(
            Span(
                start=first,
                end=last,
                owner=CardView(anchor=f"q-{owner}", slug="sleep", tag="Sleep", said=SAID),
            )
        )
    return text, start, end, spans


@given(marked_turns())
def test_pieces_tile_the_turn_and_know_whose_they_are(
    case: tuple[str, int, int, list[Span]],
) -> None:
    text, start, end, spans = case
    pieces = list(pieces_of(text, start, end, spans))
    assert "".join(piece.text for piece in pieces) == text[start:end]
    for piece in pieces:
        assert piece.text == text[piece.start : piece.start + len(piece.text)]
        for at in range(piece.start, piece.start + len(piece.text)):
            assert set(piece.owners) == {one.owner for one in spans if one.start <= at < one.end}
    for span in spans:
        own = [piece for piece in pieces if span.owner in piece.owners]
        wanted = text[max(span.start, start) : max(min(span.end, end), start)]
        assert "".join(piece.text for piece in own) == wanted
        assert sum(span.owner in piece.ends for piece in pieces) == bool(wanted)


@st.composite
def marked_interviews(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    said = draw(st.text(st.sampled_from(ODD), max_size=40))
    text = f"{draw(st.sampled_from(['', chr(0xFEFF)]))}Interviewer: So?\r\nParticipant: I {said}"
    first = text.index("I ", text.index("Participant"))
    places = st.integers(first, len(text))
    spans = [tuple(sorted((draw(places), draw(places)))) for _ in range(draw(st.integers(1, 4)))]
    return text, [(start, end) for start, end in spans if start < end]


@given(marked_interviews())
def test_each_mark_of_the_page_is_a_slice_of_the_transcript(
    case: tuple[str, list[tuple[int, int]]],
) -> None:
    text, spans = case
    try:
        transcript = parse_transcript(text)
    except SpeakersUnknown:
        # Line ends that are drawn can make of the words a head of the file, before all turns.
        reject()
    fields = eventful_fields(EXAMPLE.read_text("utf-8"))
    fields["risk"] |= {"signals": [], "signal_count": 0, "level": "none"}
    quotes: list[dict[str, Any]] = [
        {"text": text[start:end], "match": "exact", "segments": _segments(transcript, start, end)}
        for start, end in spans
    ]
    for item in fields["quantitative"]["items"].values():
        item["evidence"] = []
    fields["quantitative"]["items"]["PHQ8_Sleep"]["evidence"] = quotes
    fields["transcript"] |= {"turns": len(transcript.turns), "turn_seconds": []}
    view = sheet_view(Assessment.model_validate_json(json.dumps(fields)), transcript)
    page = ParsedPage(sheet_html(view))
    for mark in page.of("mark"):
        start = int(mark.attributes["id"].removeprefix("m"))
        assert mark.text == text[start : start + len(mark.text)]
    for number in range(1, len(quotes) + 1):
        owner = f"q-sleep-{number}-what"
        own = [
            one for one in page.of("mark") if owner in one.attributes["aria-describedby"].split()
        ]
        parts = quotes[number - 1]["segments"]
        assert "".join(one.text for one in own) == "".join(
            text[part["start"] : part["end"]] for part in parts
        )


def _segments(transcript: Transcript, start: int, end: int) -> list[dict[str, Any]]:
    """Cut a span at the borders of turns, as evidence is."""
    parts = (
        {
            "turn": turn.index,
            "start": max(start, turn.words_start),
            "end": min(end, turn.end),
        }
        for turn in transcript.turns
    )
    return [part for part in parts if part["start"] < part["end"]]
