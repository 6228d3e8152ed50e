"""The sweeps: what each run of the tests does a slice of, and `make sweep` the whole.

A sweep looks for what nobody thought of, so that more of it finds more. Its slice is large enough
to meet every kind of case once and runs with every commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """How much of a sweep is its slice, and how much is the whole."""

    slice: int
    whole: int

    def size(self, *, is_whole: bool) -> int:
        """Return how much is to be done."""
        return self.whole if is_whole else self.slice

    def of(self, cases: Sequence[T], *, is_whole: bool) -> Sequence[T]:
        """Return at least so many of the cases, spread over all, or all where there are fewer."""
        return cases[:: max(1, len(cases) // self.size(is_whole=is_whole))]


FUZZED_ASSESSMENTS: Final = Sweep(slice=50, whole=20_000)
"""Assessments whose models reply with anything."""
FUZZED_OVER_HTTP: Final = Sweep(slice=8, whole=500)
"""Assessments whose model server sends anything."""
FUZZED_INTERVIEWS: Final = Sweep(slice=22, whole=350)
"""Interviews whose agents reply with anything."""
FUZZED_ITEM_INTERVIEWS: Final = Sweep(slice=8, whole=350)
"""Interviews whose participants answer with anything."""
KILLED_AT_BOUNDARIES: Final = Sweep(slice=3, whole=1_000_000)
"""Write boundaries at which an evaluation run is killed; the whole is all that there are."""
KILLED_AT_RANDOM: Final = Sweep(slice=1, whole=40)
"""Evaluation runs that are killed at random times."""
PIPELINE_UNITS: Final = Sweep(slice=4, whole=900)
"""Units of each pipeline whose run is killed."""
SIMULATED_INTERVIEWS: Final = Sweep(slice=25, whole=1_000)
"""Interviews with simulated participants, and as many with participants in danger."""
SIMULATED_INCIDENTS: Final = Sweep(slice=2, whole=20)
"""Simulated interviews about an incident."""
DAMAGED_REPLIES: Final = Sweep(slice=200, whole=10_000)
"""Replies of known values that are damaged before they are read."""
LATENCIES: Final = Sweep(slice=3, whole=200)
"""Drawn latencies of all calls of one assessment, which decide nothing."""
DEADLINES: Final = Sweep(slice=6, whole=600)
"""Drawn deadlines of one assessment, with its events in any order."""
GENERATED_REQUESTS: Final = Sweep(slice=100, whole=20_000)
"""Requests made from the API's description, valid and not."""
SCHEMATHESIS_REQUESTS: Final = Sweep(slice=40, whole=20_000)
"""Requests that schemathesis makes from the API's own document, valid and not."""
DAMAGED_FILES: Final = Sweep(slice=60, whole=20_000)
"""Damaged files of JSON lines, of which no line and no unit may be lost."""
JOBS_AMONG_KILLS: Final = Sweep(slice=12, whole=200)
"""Jobs that worker processes do while they and the server are killed, or their database is away."""
JOB_KILLS: Final = Sweep(slice=2, whole=10)
"""Such kills, at random times."""
JOBS_ON_MACHINES: Final = Sweep(slice=8, whole=200)
"""Jobs of a server and two workers that share nothing but PostgreSQL and a key."""
UNITS_ON_MACHINES: Final = Sweep(slice=10, whole=2_000)
"""Units of a run that the same processes do."""
JOBS_OF_ONE_TENANT: Final = Sweep(slice=60, whole=1_000)
"""Jobs of one tenant that wait while another hands in a single one."""
JOB_OUTAGE_SECONDS: Final = Sweep(slice=2, whole=20)
"""How long the database of the queue is away."""
BATCH_PROVIDERS: Final = Sweep(slice=1, whole=2)
"""Providers by whose batch interface each run is made, in turn."""
BATCH_UNITS: Final = Sweep(slice=12, whole=40)
"""Units of a pipeline by batches; more than there are under way at a time."""
BATCH_KILLS: Final = Sweep(slice=2, whole=8)
"""Calls to batch interfaces at which a run is killed."""
COSTLY_REPLIES_READ: Final = Sweep(slice=16, whole=1_000_000)
"""Replies made to be costly whose reading is counted; the whole is all that there are."""
COSTLIEST_REPLIES_READ: Final = Sweep(slice=2, whole=1_000_000)
"""The costliest of them, whose memory is measured."""
HOSTILE_SHAPES: Final = Sweep(slice=16, whole=1_000_000)
"""Texts made to be costly whose work is counted at two lengths; the whole is all."""
STORE_KINDS: Final = Sweep(slice=1, whole=2)
"""Kinds of store that jobs in several processes are tried with where both say the same."""
ASSESSMENTS_OF_COSTLY_REPLIES: Final = Sweep(slice=16, whole=64)
"""Assessments at once whose model replies what costs most to read."""
CONVERSATIONS: Final = Sweep(slice=20, whole=1_000_000)
"""Public conversations whose quotes are looked up; the whole is all that there are."""
REQUESTS_AT_ONCE: Final = Sweep(slice=120, whole=4_000)
"""Requests of several people, anything by anybody at the same time."""
DRAWN_EXAMPLES: Final = Sweep(slice=25, whole=1_000)
"""Examples that each test draws whose arguments are drawn."""
WRITTEN_PEOPLE: Final = Sweep(slice=6, whole=24)
"""People with whom whole interviews are held; the whole is all that there are."""
