"""The model calls of one job, kept with it: done again, it pays for none that has ended."""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.llm.calls import Judgement
from ai_psychiatrist.reviews.archive.kept_calls import sealed_call
from ai_psychiatrist.reviews.archive.seals import Seal
from ai_psychiatrist.reviews.archives import Records


class JobCalls:
    """A call store over the archive; what was sent is not kept, for the transcript is there."""

    def __init__(
        self, job_id: str, records: Records, known: dict[tuple[str, int], ModelCall], seal: Seal
    ) -> None:
        self._job_id = job_id
        self._records = records
        self._known = known
        self._seal = seal
        self.error: AssessmentServiceError | None = None
        """Why a call could not be kept: the job is not to end without it."""

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before."""
        return self._known.get((digest, occurrence))

    def admitted(self) -> AbstractAsyncContextManager[None]:
        """Let every call be made."""
        return nullcontext()

    async def keep(self, call: ModelCall) -> None:
        """Keep a call; once this returns it outlives the process."""
        sealed = sealed_call(self._job_id, replace(call, sent=()), self._seal)
        try:
            await self._records.ask(lambda archive: archive.calls.keep([sealed]))
        except AssessmentServiceError as error:
            self.error = error
            raise

    def judged(self, judgement: Judgement) -> None:
        """Note nothing: the result has an account of all calls."""


async def open_calls(job_id: str, records: Records) -> JobCalls:
    """Return the store of a job with the calls that were made before."""
    known, seal = await records.ask(lambda archive: archive.calls.of(job_id))
    return JobCalls(job_id, records, known, seal)
