"""Check quotes against an interview; no model is asked."""

import ai_psychiatrist as ap

INTERVIEW = """\
Interviewer: How have you been sleeping?
Participant: Badly. I wake up at four nearly every night.
"""
QUOTES = ("i wake up at four", "I sleep well", "How have you been sleeping?")

report = ap.ground(QUOTES, INTERVIEW)
for quote in report.quotes:
    print(quote.quote, "-", quote.match or quote.reason)
    for part in quote.segments:
        print(f"  {part.start}-{part.end}: {INTERVIEW[part.start : part.end]}")
