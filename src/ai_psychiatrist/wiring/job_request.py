"""How a job's transcript is to be assessed, as it is kept with the job."""

from pydantic import BaseModel, ConfigDict, ValidationError

from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.reviews.archive.errors import RecordUnreadable


class JobRequest(BaseModel):
    """Sealed where it is kept; a field more has a default, for those that were kept before."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    mode: AssessmentMode
    ablates: bool = False
    is_certified: bool = False
    participant_id: int | None = None

    def written(self) -> bytes:
        """Return it as it is kept."""
        return self.model_dump_json().encode()


def read_job_request(content: bytes) -> JobRequest:
    """Return a request as it was kept; raises `RecordUnreadable`."""
    try:
        return JobRequest.model_validate_json(content)
    except ValidationError:
        raise RecordUnreadable from None
