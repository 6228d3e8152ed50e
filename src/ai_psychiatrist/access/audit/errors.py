"""What keeps the trail from being written or read."""

from ai_psychiatrist.domain.errors import AssessmentServiceError


class AuditUnusable(AssessmentServiceError):
    """The trail cannot be written or read; nothing may be shown or changed without it."""
