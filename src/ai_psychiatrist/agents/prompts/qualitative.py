"""What the qualitative agent is asked: a narrative in tagged sections."""

from typing import Final

_FORMAT: Final = """\
Cover five domains, each in a few plain sentences about what the participant says, how often, how
strongly and since when:
1. the assessment as a whole
2. the symptoms that the PHQ-8 asks about: interest, mood, sleep, energy, appetite, self-worth,
   concentration, movement
3. social factors: relationships, work, money, housing, support
4. biological factors: illness, medication, substances, family history
5. risk factors: hopelessness, self-harm, isolation, losses

For a domain that the interview does not cover, write: not assessed in interview
Then list the quotes that carry your assessment, one per line, copied letter by letter.

Reply with exactly these tags:
<assessment>
…
</assessment>
<PHQ8_symptoms>
…
</PHQ8_symptoms>
<social_factors>
…
</social_factors>
<biological_factors>
…
</biological_factors>
<risk_factors>
…
</risk_factors>
<exact_quotes>
- first quote
- second quote
</exact_quotes>
"""

ASSESS: Final = f"""\
Task: qualitative

Write a qualitative assessment of the participant.

{_FORMAT}"""

REFINE: Final = f"""\
Task: qualitative_refine

Below are an earlier qualitative assessment of the same transcript and what a reviewer found weak in
it. Write it anew so that each weakness is mended. Keep what is right, and invent nothing.

{{findings}}

{{feedback}}

{_FORMAT}"""

ONLY_VERBATIM: Final = """\

Your last list of quotes held words that the participant did not say. List only unbroken stretches
of the participant's own turns, copied letter by letter, or leave the list empty.
"""
